#include "plan/structure.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "evaluator/steps.h"
#include "plan/loop_state.h"

namespace assay {
namespace {

// Tuples of which inlining left nothing to be read.
void DropUnreadTuples(const Computation& computation, ComputationPlan& plan) {
  const auto is_tuple = [&](const Step& step) {
    return step.instruction != computation.root &&
           computation.instructions[step.instruction].opcode == Opcode::kTuple;
  };
  if (std::none_of(plan.steps.begin(), plan.steps.end(), is_tuple)) return;
  std::vector<bool> read(computation.instructions.size(), false);
  read[computation.root] = true;
  std::vector<bool> unread(computation.instructions.size(), false);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const int32_t i = step->instruction;
    unread[i] = !read[i] && computation.instructions[i].opcode == Opcode::kTuple;
    if (unread[i]) {
      plan.step_units = AddUnits(plan.step_units, step->step_units);
      continue;
    }
    for (int32_t operand : step->Reads(computation)) read[operand] = true;
  }
  std::erase_if(plan.steps, [&](const Step& step) { return unread[step.instruction]; });
}

bool IsStructure(const Computation& computation, ComputationPlan& plan, const Instruction& instruction,
                 int32_t index) {
  switch (instruction.opcode) {
    case Opcode::kConstant:
      if (instruction.literal == nullptr) return false;  // elided: a step, which fails
      plan.constants.push_back(index);
      return true;
    case Opcode::kGetTupleElement:
      return plan.state.unpacked && instruction.operands[0] == computation.parameters[0];
    case Opcode::kTuple:
      return plan.state.packed && index == computation.root;
    default:
      return false;
  }
}

}  // namespace

void TakeStructure(const Computation& computation, ComputationPlan& plan) {
  plan.step_units = computation.inlined_steps.value_or(0);
  DropUnreadTuples(computation, plan);
  FindLoopState(computation, plan);
  auto left = plan.steps.begin();
  for (Step& step : plan.steps) {
    const Instruction& instruction = computation.instructions[step.instruction];
    if (IsStructure(computation, plan, instruction, step.instruction)) {
      plan.step_units = AddUnits(plan.step_units, step.step_units);
      continue;
    }
    if (instruction.opcode == Opcode::kTuple) step.kind = StepKind::kTuple;
    if (instruction.opcode == Opcode::kGetTupleElement) {
      step.kind = StepKind::kGetTupleElement;
      step.element = instruction.attributes.Int(Attr::kIndex);
    }
    if (&*left != &step) *left = std::move(step);
    ++left;
  }
  plan.steps.erase(left, plan.steps.end());
}

}  // namespace assay
