// The engine "bf16-tiles" of `--engine fast`: dots of bf16 with a result of f32,
// by matrix registers (AMX) that sum in f32.
#ifndef ASSAY_ENGINES_APPROXIMATE_BF16_TILES_H_
#define ASSAY_ENGINES_APPROXIMATE_BF16_TILES_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// Takes dots of 2^20 products and more whose panels would be half full at least.
const Engine& Bf16TilesEngine(Isa isa);
// Takes dots of any size: for tests.
const Engine& EagerBf16TilesEngine(Isa isa);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_BF16_TILES_H_
