#include "plan/prepare.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"

namespace assay {
namespace {

bool IsLoopInSlots(const Instruction& instruction, std::span<const ComputationPlan> plans) {
  if (instruction.opcode != Opcode::kWhile) return false;
  const StateSlots& condition = plans[instruction.attributes.Computation(Attr::kCondition)->value].state;
  const StateSlots& body = plans[instruction.attributes.Computation(Attr::kBody)->value].state;
  return condition.unpacked && body.unpacked && body.packed;
}

bool LacksBound(const Shape& shape) {
  if (shape.IsArray()) return shape.HasUnbounded();
  return std::any_of(shape.elements().begin(), shape.elements().end(), LacksBound);
}

// Why the reference alone may run the step; empty: engines are asked.
std::string_view WhyNoEngine(const FusionView& view) {
  // What is declared without a bound has no room to be computed in: the reference says so.
  if (LacksBound(*view.root().shape)) return "a dimension without a bound";
  // Each application shows, and in its order.
  if (!DefinitionOf(view.root().opcode).calls_may_have_effects) {
    for (const ComputationId id : CalledComputations(view.root()))
      if (HasEffects(view.module, id)) return "effects in the computation that it applies";
  }
  return {};
}

}  // namespace

absl::Status PrepareStep(const FusionView& view, std::span<const Engine* const> engines, Step& step) {
  const std::string_view why_none = WhyNoEngine(view);
  for (const Engine* engine : engines) {
    absl::StatusOr<std::shared_ptr<const Kernel>> kernel =
        why_none.empty() ? engine->Prepare(view) : NotSupported({}, why_none);
    if (absl::IsUnimplemented(kernel.status())) {
      step.declined.reserve(engines.size());
      step.declined.push_back({engine, std::move(kernel).status()});
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(step.kernel, std::move(kernel));
    step.engine = engine;
    break;
  }
  return absl::OkStatus();
}

absl::Status PrepareSteps(const Module& module, const Computation& computation,
                          std::span<const Engine* const> engines, bool in_loop,
                          std::span<const ComputationPlan> plans, ComputationPlan& plan) {
  for (Step& step : plan.steps) {
    if (step.kernel != nullptr || step.kind != StepKind::kEvaluate) continue;
    const Instruction& instruction = computation.instructions[step.instruction];
    ASSAY_RETURN_IF_ERROR(PrepareStep(
        {module, computation, {&step.instruction, 1}, instruction.operands, in_loop}, engines, step));
    if (step.kernel == nullptr && IsLoopInSlots(instruction, plans)) step.kind = StepKind::kLoop;
  }
  return absl::OkStatus();
}

}  // namespace assay
