// The engine "jit": fusions as generated code (program.h).
#ifndef ASSAY_ENGINES_JIT_JIT_ENGINE_H_
#define ASSAY_ENGINES_JIT_JIT_ENGINE_H_

#include "engine/engine.h"
#include "jit/isa.h"

namespace assay::fused {

// For instruction sets up to `isa`, which the machine must have. Takes what has enough elements for the code to
// be worth its making.
const Engine& JitEngine(native::Isa isa);
// Takes any number of elements; for tests.
const Engine& EagerJitEngine(native::Isa isa);
// The same with the near functions of --engine fast (engines/approximate/near_functions.h), where code pays at once.
const Engine& NearJitEngine(native::Isa isa);
const Engine& EagerNearJitEngine(native::Isa isa);

}  // namespace assay::fused

#endif  // ASSAY_ENGINES_JIT_JIT_ENGINE_H_
