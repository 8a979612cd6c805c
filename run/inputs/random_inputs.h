// Random inputs for a program: `assay run --random-inputs SEED`.
#ifndef ASSAY_RUN_INPUTS_RANDOM_INPUTS_H_
#define ASSAY_RUN_INPUTS_RANDOM_INPUTS_H_

#include <cstdint>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/verify.h"
#include "literal/literal.h"

namespace assay {

// One value for each parameter of the entry computation. Equal programs and seeds give equal bytes. What the
// program does with a parameter is respected as far as input_demands.h finds it out. Run-time sizes are the
// bounds.
absl::StatusOr<std::vector<Literal>> RandomInputs(const VerifiedModule& module, uint64_t seed);
// For ProcessState::when_empty: one value after the other for infeed and host receives, drawn as parameters
// are that nothing is known of. A copy begins anew.
StreamItem RandomStream(uint64_t seed);

}  // namespace assay

#endif  // ASSAY_RUN_INPUTS_RANDOM_INPUTS_H_
