#include "plan/loop_state.h"

#include <algorithm>
#include <vector>

#include "evaluator/runtime_sizes.h"

namespace assay {
namespace {

void FindOutputs(const Computation& computation, StateSlots& state) {
  const Instruction& root = computation.root_instruction();
  std::vector<bool> given(computation.instructions.size(), false);
  for (int32_t slot : root.operands)
    state.outputs.push_back({static_cast<int64_t>(state.outputs.size()), slot});
  for (auto output = state.outputs.rbegin(); output != state.outputs.rend(); ++output) {
    const Instruction& instruction = computation.instructions[output->slot];
    output->last = !given[output->slot] && instruction.opcode != Opcode::kConstant;
    given[output->slot] = true;
  }
  state.unchanged.assign(root.operands.size(), false);
  if (!state.unpacked ||
      root.operands.size() != computation.instructions[computation.parameters[0]].shape->elements().size())
    return;
  for (const ElementSlot& input : state.inputs) {
    if (state.outputs[input.element].slot == input.slot) state.unchanged[input.element] = true;
  }
  // Such an element may stand in several slots, and what is in one of them may be given
  // out as another element, too.
  std::vector<bool> stays(computation.instructions.size(), false);
  for (const ElementSlot& input : state.inputs) {
    if (state.unchanged[input.element]) stays[input.slot] = true;
  }
  for (ElementSlot& output : state.outputs) output.last = output.last && !stays[output.slot];
}

}  // namespace

void FindLoopState(const Computation& computation, ComputationPlan& plan) {
  const int32_t root = computation.root;
  const bool takes_tuple = computation.parameters.size() == 1 && root != computation.parameters[0] &&
                           computation.instructions[computation.parameters[0]].shape->IsTuple();
  StateSlots& state = plan.state;
  state.unpacked = takes_tuple;
  const Instruction& result = computation.root_instruction();
  state.packed = result.opcode == Opcode::kTuple && !IsDeclaredOtherwise(result);
  for (const Step& step : plan.steps) {
    const Instruction& instruction = computation.instructions[step.instruction];
    for (int32_t operand : step.Reads(computation)) {
      if (operand == root) state.packed = false;
      if (takes_tuple && operand == computation.parameters[0]) {
        if (instruction.opcode != Opcode::kGetTupleElement || IsDeclaredOtherwise(instruction))
          state.unpacked = false;
        state.inputs.push_back({instruction.attributes.Int(Attr::kIndex), step.instruction});
      }
    }
  }
  if (!state.unpacked) state.inputs.clear();
  std::stable_sort(state.inputs.begin(), state.inputs.end(),
                   [](const ElementSlot& a, const ElementSlot& b) { return a.element < b.element; });
  for (size_t k = 0; k + 1 < state.inputs.size(); ++k)
    state.inputs[k].last = state.inputs[k].element != state.inputs[k + 1].element;
  if (state.packed) FindOutputs(computation, state);
}

}  // namespace assay
