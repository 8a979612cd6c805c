// Steps of a loop's body that give the same in each turn.
#ifndef ASSAY_PLAN_LOOP_INVARIANT_H_
#define ASSAY_PLAN_LOOP_INVARIANT_H_

#include "plan/plan.h"

namespace assay {

// In a body whose state lies in slots (loop_state.h): marks the steps without effects that read only what no turn changes,
// up to 1 MiB of results (Step::loop_invariant), and for every other step which of its operands are such
// (Step::unchanged).
void FindLoopInvariants(const Computation& computation, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_LOOP_INVARIANT_H_
