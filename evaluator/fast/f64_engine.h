// The engine "f64" of `--engine fast`: large dots of f64, summed in f64 by the tiles of the exact engine without its tests.
#ifndef ASSAY_EVALUATOR_FAST_F64_ENGINE_H_
#define ASSAY_EVALUATOR_FAST_F64_ENGINE_H_

#include "evaluator/engine.h"

namespace assay::fast {

// Takes dots of 2^18 products and more; each kernel states its bound (Accuracy::kF64Sum).
const Engine& F64Engine(native::Isa isa);
// Takes dots of any size: for tests.
const Engine& EagerF64Engine(native::Isa isa);

}  // namespace assay::fast

#endif  // ASSAY_EVALUATOR_FAST_F64_ENGINE_H_
