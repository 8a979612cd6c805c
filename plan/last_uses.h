// When values are freed.
#ifndef ASSAY_PLAN_LAST_USES_H_
#define ASSAY_PLAN_LAST_USES_H_

#include "plan/plan.h"

namespace assay {

// Marks which step reads a value last, whether a step's result is used at all, and which parameters are.
// Slots of constants, of loop-invariant results and of the state that is passed on are never freed by a step.
void MarkLastUses(const Computation& computation, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_LAST_USES_H_
