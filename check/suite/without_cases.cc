// Operations that the suite has no case of, and why.
#include <algorithm>
#include <vector>

#include "check/suite/suite_case.h"

namespace assay {
namespace {

struct Reason {
  std::string_view why;
  std::vector<Opcode> ops;
};

const std::vector<Reason>& Reasons() {
  static const auto* const reasons = new std::vector<Reason>{
      {"several devices are needed",
       {Opcode::kAllGather, Opcode::kAllGatherDone, Opcode::kAllGatherStart, Opcode::kAllReduce,
        Opcode::kAllReduceDone, Opcode::kAllReduceStart, Opcode::kAllToAll, Opcode::kCollectiveBroadcast,
        Opcode::kCollectivePermute, Opcode::kCollectivePermuteDone, Opcode::kCollectivePermuteStart,
        Opcode::kPartitionId, Opcode::kRaggedAllToAll, Opcode::kReduceScatter, Opcode::kReplicaId}},
      {"the host has to send or receive values",
       {Opcode::kInfeed, Opcode::kOutfeed, Opcode::kRecv, Opcode::kRecvDone, Opcode::kSend,
        Opcode::kSendDone}},
      {"made by compilers, not part of their input",
       {Opcode::kAsyncDone, Opcode::kAsyncStart, Opcode::kAsyncUpdate, Opcode::kCopyDone, Opcode::kCopyStart,
        Opcode::kDomain}},
      {"its sizes are known when it runs, which files of arrays can't say",
       {Opcode::kDynamicReshape, Opcode::kSetDimensionSize}},
      {"random numbers are a stream of the implementation's own",
       {Opcode::kRng, Opcode::kRngGetAndUpdateState}},
      {"its meaning is its target's", {Opcode::kCustomCall}},
      {"part of the cases of add-dependency", {Opcode::kAfterAll}},
  };
  return *reasons;
}

}  // namespace

std::string_view ReasonWithoutCases(Opcode op) {
  for (const Reason& reason : Reasons()) {
    if (std::find(reason.ops.begin(), reason.ops.end(), op) != reason.ops.end()) return reason.why;
  }
  return "";
}

}  // namespace assay
