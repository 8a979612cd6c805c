// The order in which a computation's instructions run.
#ifndef ASSAY_PLAN_ORDER_H_
#define ASSAY_PLAN_ORDER_H_

#include <vector>

#include "plan/plan.h"

namespace assay {

// Adds a step for each live instruction but parameters: in textual order, with two exceptions that no result
// can show. A recv-done waits for the sends on its channel in the same computation, which come first with
// what they need; a wait that closes a cycle is a deadlock (EvalError). And a get-tuple-element follows its
// tuple at once: the tuple can then be freed early, which leaves its elements unshared, so that updates can
// happen in place.
absl::Status OrderSteps(const Module& module, const Computation& computation, const std::vector<bool>& live,
                        ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_ORDER_H_
