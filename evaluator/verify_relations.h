// Rules that relate instructions which do not see each other: users of an asynchronous start, and the
// ids of collectives' channels. Called by Verify (verify.h).
#ifndef ASSAY_EVALUATOR_VERIFY_RELATIONS_H_
#define ASSAY_EVALUATOR_VERIFY_RELATIONS_H_

#include "base/error.h"
#include "hlo/module.h"

namespace assay {

// Async-C7: an async-start or async-update has at most one async-update or async-done as its user.
absl::Status CheckAsyncConsumers(const Computation& computation);

// The channel ids of collectives, which choose the mode of their groups, are positive, or 0 for none.
absl::Status CheckChannels(const Module& module);

// Shardings as XLA asks when it takes the program over: one for an array, one for each array of a tuple, and
// tiles that fit it. What has tokens, and states of asynchronous operations, are left alone.
absl::Status CheckShardings(const Module& module);

// Copy-C2: a copy-start has exactly one user, a copy-done.
absl::Status CheckCopyStarts(const Computation& computation);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_VERIFY_RELATIONS_H_
