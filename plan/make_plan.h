// VerifiedModule -> Plan: the passes of this folder, one after the other.
#ifndef ASSAY_PLAN_MAKE_PLAN_H_
#define ASSAY_PLAN_MAKE_PLAN_H_

#include <span>

#include "evaluator/verify.h"
#include "plan/plan.h"

namespace assay {

enum class PlanForm : uint8_t {
  kFast,
  // One step for each instruction, which runs as often as the program says: calls and fusions stay
  // computations, and no step is taken out of a loop. For who looks at values.
  kAsWritten,
};

// Keeps of each computation what its root or a side effect needs, in textual order (TOKEN-1).
// Engines are asked in their order and outlive the plan, their list need not; the reference needs none.
absl::StatusOr<Plan> MakePlan(const VerifiedModule& verified, std::span<const Engine* const> engines,
                              PlanForm form = PlanForm::kFast);

}  // namespace assay

#endif  // ASSAY_PLAN_MAKE_PLAN_H_
