#include "plan/live.h"

#include "evaluator/registry.h"

namespace assay {

std::vector<std::vector<bool>> LiveInstructions(const Module& module) {
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
    std::vector<bool>& live = all.emplace_back(computation.instructions.size(), false);
    if (live.empty()) continue;  // inlined wherever it was called
    live[computation.root] = true;
    for (size_t i = live.size(); i-- > 0;) {
      const Instruction& instruction = computation.instructions[i];
      if (has_effect(instruction)) live[i] = has_effects[c] = true;
      if (computation.inlined_steps.has_value()) live[i] = true;
      if (!live[i]) continue;
      for (int32_t operand : instruction.operands) live[operand] = true;
      for (int32_t predecessor : instruction.control_predecessors) live[predecessor] = true;
    }
  }
  return all;
}

std::vector<bool> ComputationsInLoops(const Module& module) {
  std::vector<bool> in_loop(module.computations.size(), false);
  for (size_t c = module.computations.size(); c-- > 0;) {  // callers stand behind what they call
    for (const Instruction& instruction : module.computations[c].instructions) {
      if (!in_loop[c] && instruction.opcode != Opcode::kWhile) continue;
      for (ComputationId id : CalledComputations(instruction)) in_loop[id.value] = true;
    }
  }
  return in_loop;
}

}  // namespace assay
