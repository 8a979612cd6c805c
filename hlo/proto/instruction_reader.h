// One HloInstructionProto to an Instruction. Which fields an op uses is decided here, by its opcode; fields of
// other ops are skipped, as XLA skips them.
#ifndef ASSAY_HLO_PROTO_INSTRUCTION_READER_H_
#define ASSAY_HLO_PROTO_INSTRUCTION_READER_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "hlo/module.h"
#include "hlo/proto/devices.h"

namespace assay::pb {
class HloInstructionProto;
class ShapeProto;
}  // namespace assay::pb

namespace assay::proto {

// Equal array shapes of a module share one object.
class ShapeTable {
 public:
  absl::StatusOr<std::shared_ptr<const Shape>> Find(const pb::ShapeProto& message);

 private:
  absl::flat_hash_map<std::string, std::shared_ptr<const Shape>> known_;
  std::string key_;
};

// Instructions compare ids by their low 32 bits.
using InstructionIds = absl::flat_hash_map<uint32_t, int32_t>;
using ComputationIds = absl::flat_hash_map<int64_t, int32_t>;

class InstructionReader {
 public:
  explicit InstructionReader(const ComputationIds& computations) : computations_(computations) {}
  Payloads& payloads() { return payloads_; }
  // `above`: the instructions before it, and `ids` their places.
  absl::StatusOr<Instruction> Read(const pb::HloInstructionProto& message, const Computation& above,
                                   const InstructionIds& ids);

 private:
  struct Draft;
  absl::Status ReadOpcode(Draft& draft);
  absl::Status ReadIds(Draft& draft, const InstructionIds& ids);
  absl::Status ReadExtras(Draft& draft);
  absl::Status ReadAttributes(Draft& draft);
  absl::Status ReadCallAttributes(Draft& draft);
  absl::Status ReadCollectiveAttributes(Draft& draft);
  absl::Status ReadCustomCall(Draft& draft);
  absl::Status ReadConditional(Draft& draft);
  // The n-th of exactly `count` called computations.
  absl::Status ReadCalled(Draft& draft, std::initializer_list<Attr> attrs);
  absl::StatusOr<std::vector<ComputationId>> Called(const Draft& draft) const;

  const ComputationIds& computations_;
  Payloads payloads_;
  ShapeTable shapes_;
  ReplicaGroupReader groups_;
};

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_INSTRUCTION_READER_H_
