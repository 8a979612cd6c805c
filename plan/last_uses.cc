#include "plan/last_uses.h"

#include <vector>

namespace assay {
namespace {

// What is given out goes when it is taken (Executor::Loop).
void MarkReleases(const Computation& computation, ComputationPlan& plan) {
  if (plan.loop_invariants.empty()) return;
  std::vector<bool> kept(computation.instructions.size(), false);
  for (int32_t slot : plan.loop_invariants) kept[slot] = true;
  for (const ElementSlot& output : plan.state.outputs) kept[output.slot] = false;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    for (int32_t read : step->Reads(computation)) {
      if (!kept[read]) continue;
      step->releases.push_back(read);
      kept[read] = false;
    }
  }
}

}  // namespace

void MarkLastUses(const Computation& computation, ComputationPlan& plan) {
  std::vector<bool> used_later(computation.instructions.size(), false);
  used_later[computation.root] = true;
  for (const ElementSlot& output : plan.state.outputs) used_later[output.slot] = true;
  for (int32_t constant : plan.constants) used_later[constant] = true;
  for (int32_t slot : plan.loop_invariants) used_later[slot] = true;
  for (const ElementSlot& input : plan.state.inputs) {
    if (!plan.state.unchanged.empty() && plan.state.unchanged[input.element]) used_later[input.slot] = true;
  }
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const std::span<const int32_t> operands = step->Reads(computation);
    step->last_use.assign(operands.size(), false);
    for (size_t k = operands.size(); k-- > 0;) {
      step->last_use[k] = !used_later[operands[k]];
      used_later[operands[k]] = true;
    }
    step->result_used = used_later[step->instruction];
  }
  plan.parameter_used.reserve(computation.parameters.size());
  for (int32_t parameter : computation.parameters) plan.parameter_used.push_back(used_later[parameter]);
  std::erase_if(plan.state.inputs, [&](const ElementSlot& input) { return !used_later[input.slot]; });
  MarkReleases(computation, plan);
}

}  // namespace assay
