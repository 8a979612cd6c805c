// The engine "f32" of `--engine fast`: sums of f32 in f32, where they are too small for oneDNN, and functions of f32, f16 and
// bf16 in f32 (near_functions.h).
#ifndef ASSAY_ENGINES_APPROXIMATE_F32_ENGINE_H_
#define ASSAY_ENGINES_APPROXIMATE_F32_ENGINE_H_

#include "engine/engine.h"

namespace assay::fast {

// Takes dots of 2^12 products and more and functions of 2^10 elements and more: the exact kernels are as fast below.
const Engine& F32Engine(native::Isa isa);
// Takes any size: for tests.
const Engine& EagerF32Engine(native::Isa isa);

}  // namespace assay::fast

#endif  // ASSAY_ENGINES_APPROXIMATE_F32_ENGINE_H_
