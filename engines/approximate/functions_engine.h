// The engine "functions": functions.h, one instruction at a time,
// and within fusions the engine "jit" with them.
#ifndef ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_ENGINE_H_
#define ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_ENGINE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// For instruction sets up to `isa`, which the machine must have.
// Takes what has enough elements to be worth it.
const Engine& FunctionsEngine(Isa isa);
// Takes any number of elements; for tests.
const Engine& EagerFunctionsEngine(Isa isa);

// jit::ExactJitEngine with approximate functions where there are some.
const Engine& ApproximateJitEngine(Isa isa);
const Engine& EagerApproximateJitEngine(Isa isa);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_ENGINE_H_
