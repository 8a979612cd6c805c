// The engine "f64" of `--engine fast`: large dots of f64, summed in f64 by the tiles of the exact engine without its tests, and
// functions of f64 in f64 (near_functions.h).
#ifndef ASSAY_ENGINES_APPROXIMATE_F64_ENGINE_H_
#define ASSAY_ENGINES_APPROXIMATE_F64_ENGINE_H_

#include "engine/engine.h"

namespace assay::fast {

// Takes dots of 2^18 products and more and functions of 2^10 elements and more; each kernel states its bound.
const Engine& F64Engine(native::Isa isa);
// Takes any size: for tests.
const Engine& EagerF64Engine(native::Isa isa);

}  // namespace assay::fast

#endif  // ASSAY_ENGINES_APPROXIMATE_F64_ENGINE_H_
