#include "plan/live.h"

#include "evaluator/registry.h"

namespace assay {

std::vector<std::vector<bool>> NeededInstructions(const Module& module) {
  std::vector<std::vector<bool>> all;
  all.reserve(module.computations.size());
  std::vector<bool> has_effects(module.computations.size(), false);  // callees come first
  const auto has_effect = [&](const Instruction& instruction) {
    if (HasSideEffect(instruction)) return true;
    for (ComputationId id : CalledComputations(instruction)) {
      if (has_effects[id.value]) return true;
    }
    return false;
  };
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    std::vector<bool>& needed = all.emplace_back(computation.instructions.size(), false);
    if (needed.empty()) continue;  // inlined wherever it was called
    needed[computation.root] = true;
    for (size_t i = needed.size(); i-- > 0;) {
      const Instruction& instruction = computation.instructions[i];
      if (has_effect(instruction)) needed[i] = has_effects[c] = true;
      if (computation.inlined_steps.has_value()) needed[i] = true;
      if (!needed[i]) continue;
      for (int32_t operand : instruction.operands) needed[operand] = true;
      for (int32_t predecessor : instruction.control_predecessors) needed[predecessor] = true;
    }
  }
  return all;
}

}  // namespace assay
