#include "plan/order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "evaluator/registry.h"
#include "evaluator/steps.h"
#include "fmt/format.h"

namespace assay {
namespace {

// The sends and recvs on one device channel, in textual order, which they keep:
// the n-th send meets the n-th recv.
struct Transfers {
  std::vector<int32_t> sends, recvs;
};

bool IsDeviceTransfer(const Instruction& instruction) {
  return DefinitionOf(instruction.opcode).channel == Channel::kTransfer &&
         !instruction.attributes.Bool(Attr::kIsHostTransfer);
}

// What a -done waits for of the other side: that of its own start's number,
// or all where the start stands elsewhere.
std::span<const int32_t> PartnersOf(const Computation& computation, std::span<const int32_t> own,
                                    std::span<const int32_t> others, int32_t done) {
  const int32_t start = computation.instructions[done].operands[0];
  const auto at = std::lower_bound(own.begin(), own.end(), start);
  const auto number = static_cast<size_t>(at - own.begin());
  if (at == own.end() || *at != start || number >= others.size()) return others;
  return others.subspan(number, 1);
}

// What must run before instruction i. Operands and control predecessors stand before it in the text, so
// they are listed only where a recv-done has pulled something forward.
std::vector<int32_t> Predecessors(const Computation& computation,
                                  const std::map<int64_t, Transfers>& channels, int32_t i) {
  const Instruction& instruction = computation.instructions[i];
  std::vector<int32_t> result(instruction.operands.begin(), instruction.operands.end());
  result.insert(result.end(), instruction.control_predecessors.begin(),
                instruction.control_predecessors.end());
  if (instruction.attributes.Bool(Attr::kIsHostTransfer)) return result;
  const auto channel = channels.find(instruction.attributes.Int(Attr::kChannelId));
  if (channel == channels.end()) return result;
  if (IsDeviceTransfer(instruction)) {
    const std::vector<int32_t>& same =
        instruction.opcode == Opcode::kSend ? channel->second.sends : channel->second.recvs;
    const auto at = std::lower_bound(same.begin(), same.end(), i);
    if (at != same.begin()) result.push_back(*(at - 1));
  } else if (instruction.opcode == Opcode::kRecvDone) {
    const std::span<const int32_t> sends =
        PartnersOf(computation, channel->second.recvs, channel->second.sends, i);
    result.insert(result.end(), sends.begin(), sends.end());
  } else if (instruction.opcode == Opcode::kSendDone) {  // which waits for its recv to begin
    const std::span<const int32_t> recvs =
        PartnersOf(computation, channel->second.sends, channel->second.recvs, i);
    result.insert(result.end(), recvs.begin(), recvs.end());
  }
  return result;
}

absl::StatusOr<std::vector<int32_t>> ExecutionOrder(const Computation& computation) {
  const auto& instructions = computation.instructions;
  const int32_t count = static_cast<int32_t>(instructions.size());
  enum : uint8_t { kNew, kOpen, kDone };
  std::map<int64_t, Transfers> channels;
  for (int32_t i = 0; i < count; ++i) {
    if (!IsDeviceTransfer(instructions[i])) continue;
    Transfers& transfers = channels[instructions[i].attributes.Int(Attr::kChannelId)];
    (instructions[i].opcode == Opcode::kSend ? transfers.sends : transfers.recvs).push_back(i);
  }
  std::vector<int32_t> order, pending;
  if (channels.empty()) {  // the text's order is one
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  order.reserve(count);
  std::vector<uint8_t> state(count, kNew);
  for (int32_t first = 0; first < count; ++first) {
    pending.push_back(first);
    while (!pending.empty()) {
      const int32_t i = pending.back();
      if (state[i] != kNew) {
        pending.pop_back();
        if (state[i] == kOpen) order.push_back(i);
        state[i] = kDone;
        continue;
      }
      state[i] = kOpen;
      for (int32_t before : Predecessors(computation, channels, i)) {
        if (state[before] == kNew) pending.push_back(before);
        if (state[before] == kOpen) {
          return EvalError(instructions[i].position,
                           fmt::format("deadlock: '{}' and '{}' wait for each other", instructions[i].name,
                                       instructions[before].name));
        }
      }
    }
  }
  return order;
}

void AddSteps(const Module& module, const Computation& computation, const std::vector<int32_t>& order,
              const std::vector<bool>& live, ComputationPlan& plan) {
  const auto& instructions = computation.instructions;
  const int32_t count = static_cast<int32_t>(instructions.size());
  std::vector<std::vector<int32_t>> projections;  // by tuple; empty where there are none
  for (int32_t i = 0; i < count; ++i) {
    const Instruction& instruction = instructions[i];
    if (live[i] && instruction.opcode == Opcode::kGetTupleElement &&
        instruction.control_predecessors.empty()) {
      projections.resize(count);
      projections[instruction.operands[0]].push_back(i);
    }
  }
  plan.steps.reserve(std::count(live.begin(), live.end(), true));
  std::vector<bool> done(count, false);
  std::vector<int32_t> pending;
  for (int32_t i : order) {
    if (!live[i] || done[i]) continue;
    pending.push_back(i);
    while (!pending.empty()) {
      const int32_t next = pending.back();
      pending.pop_back();
      done[next] = true;
      if (instructions[next].opcode != Opcode::kParameter) {
        Step& step = plan.steps.emplace_back();
        step.instruction = next;
        step.op = &DefinitionOf(instructions[next].opcode);
        step.step_units = StepUnitsOf(module, computation, instructions[next]);
      }
      if (projections.empty()) continue;
      pending.insert(pending.end(), projections[next].rbegin(), projections[next].rend());
    }
  }
}

}  // namespace

absl::Status OrderSteps(const Module& module, const Computation& computation, const std::vector<bool>& live,
                        ComputationPlan& plan) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int32_t> order, ExecutionOrder(computation));
  AddSteps(module, computation, order, live, plan);
  return absl::OkStatus();
}

}  // namespace assay
