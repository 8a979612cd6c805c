// A loop's state in slots instead of a tuple.
#ifndef ASSAY_PLAN_LOOP_STATE_H_
#define ASSAY_PLAN_LOOP_STATE_H_

#include "plan/plan.h"

namespace assay {

// Finds whether the computation's one parameter is a tuple of which elements alone are read, and whether its
// root puts a tuple together that nothing else reads: ComputationPlan::state. Where condition and body of a
// while are such, the loop passes its state on element by element,
// and elements that the body passes on as they are never move.
void FindLoopState(const Computation& computation, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_LOOP_STATE_H_
