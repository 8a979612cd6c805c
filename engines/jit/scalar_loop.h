// The engine "loop": while loops whose state is scalars and arrays of as few elements as a vector has lanes,
// as generated code (jit::Recurrence). Condition and body are elementwise ops, broadcasts of one element,
// slices of one, what leaves elements in their places, tuples, and calls of such. What else is in the state,
// larger arrays and tokens, must come back as it was.
#ifndef ASSAY_ENGINES_JIT_SCALAR_LOOP_H_
#define ASSAY_ENGINES_JIT_SCALAR_LOOP_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::jit {

// Uses instruction sets up to `isa`, which the machine must have.
const Engine& LoopEngine(Isa isa);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_SCALAR_LOOP_H_
