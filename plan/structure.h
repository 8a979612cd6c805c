// Steps that only give the program its structure.
#ifndef ASSAY_PLAN_STRUCTURE_H_
#define ASSAY_PLAN_STRUCTURE_H_

#include "plan/plan.h"

namespace assay {

// Drops tuples that nobody reads (inlining leaves them), and takes constants, the state's projections and the
// tuple that a packed root puts together (loop_state.h) out of the steps: they become data of the plan. Other
// tuples and get-tuple-elements become steps of the executor's own. What the dropped steps count towards
// --max-steps stays counted.
void TakeStructure(const Computation& computation, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_STRUCTURE_H_
