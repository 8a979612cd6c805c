// Who runs a step.
#ifndef ASSAY_PLAN_PREPARE_H_
#define ASSAY_PLAN_PREPARE_H_

#include <span>

#include "plan/plan.h"

namespace assay {

// Asks the engines in their order for a kernel, and keeps it with its engine in `step`, or leaves both null.
// What engines said that declined is added to Step::declined.
absl::Status PrepareStep(const FusionView& view, std::span<const Engine* const> engines, Step& step);

// Asks for every step that has no kernel yet and is not the executor's own; a while that no engine takes, and
// whose condition and body take their state in slots, becomes StepKind::kLoop.
// `plans` has those of the computations before.
absl::Status PrepareSteps(const Module& module, const Computation& computation,
                          std::span<const Engine* const> engines, bool in_loop,
                          std::span<const ComputationPlan> plans, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_PREPARE_H_
