// The engine "rounded-sums": dots of f32 and of f64 whose sums round after each term, in the operands' own type.
#ifndef ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_
#define ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_

#include "engine/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// Uses instruction sets up to `isa`, which the machine must have. Takes what has enough products to be worth it.
const Engine& RoundedSumsEngine(Isa isa);
// Takes any number of products; for tests.
const Engine& EagerRoundedSumsEngine(Isa isa);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_ROUNDED_SUMS_H_
