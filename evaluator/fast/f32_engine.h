// The engine "f32" of `--engine fast`: sums of f32 in f32, where they are too small for oneDNN.
#ifndef ASSAY_EVALUATOR_FAST_F32_ENGINE_H_
#define ASSAY_EVALUATOR_FAST_F32_ENGINE_H_

#include "evaluator/engine.h"

namespace assay::fast {

// Takes dots of 2^12 products and more: the exact kernel is as fast below.
const Engine& F32Engine(native::Isa isa);
// Takes dots of any size: for tests.
const Engine& EagerF32Engine(native::Isa isa);

}  // namespace assay::fast

#endif  // ASSAY_EVALUATOR_FAST_F32_ENGINE_H_
