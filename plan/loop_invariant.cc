#include "plan/loop_invariant.h"

#include <algorithm>
#include <vector>

#include "evaluator/registry.h"

namespace assay {
namespace {

constexpr int64_t kMostBytes = 1 << 20;  // of results that are kept until the loop ends

// Running it again with the same operands gives the same array and does nothing else.
bool IsRepeatable(const Instruction& instruction) {
  return instruction.shape->IsArray() && !instruction.shape->HasDynamic() && !HasSideEffect(instruction) &&
         instruction.opcode != Opcode::kCustomCall && CalledComputations(instruction).empty() &&
         instruction.control_predecessors.empty();
}

}  // namespace

void FindLoopInvariants(const Computation& computation, ComputationPlan& plan) {
  if (!plan.state.unpacked || !plan.state.packed) return;
  std::vector<bool> unchanged(computation.instructions.size(), false);
  for (int32_t constant : plan.constants) unchanged[constant] = true;
  for (size_t e = 0; e < plan.state.unchanged.size(); ++e) {
    if (plan.state.unchanged[e]) unchanged[plan.state.outputs[e].slot] = true;
  }
  int64_t room = kMostBytes;
  for (Step& step : plan.steps) {
    const std::span<const int32_t> reads = step.Reads(computation);
    const Instruction& instruction = computation.instructions[step.instruction];
    step.loop_invariant =
        IsRepeatable(instruction) && instruction.shape->TotalBytes() <= room &&
        std::all_of(reads.begin(), reads.end(), [&](int32_t read) { return unchanged[read]; });
    if (!step.loop_invariant) {
      step.unchanged.assign(reads.size(), false);
      for (size_t k = 0; k < reads.size(); ++k) step.unchanged[k] = unchanged[reads[k]];
      continue;
    }
    room -= instruction.shape->TotalBytes();
    unchanged[step.instruction] = true;
    plan.loop_invariants.push_back(step.instruction);
    for (ElementSlot& output : plan.state.outputs) {
      if (output.slot == step.instruction) output.last = false;
    }
  }
}

}  // namespace assay
