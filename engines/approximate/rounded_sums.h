// The engine "rounded-sums": dots of f32, bf16, f16 and f64, and convolutions of the first three, whose sums
// round after each term, in f32 or f64.
#ifndef ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_
#define ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// Uses instruction sets up to `isa`, which the machine must have.
// Takes what has enough products to be worth it.
const Engine& RoundedSumsEngine(Isa isa);
// These take any number of products; for tests. The second one takes tiles where there is a choice.
const Engine& EagerRoundedSumsEngine(Isa isa);
const Engine& EagerTilesEngine(Isa isa);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_
