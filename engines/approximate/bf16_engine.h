// The engine "bf16" of `--engine fast`: dots of bf16 with a result of f32, by matrix registers (AMX) that sum in f32.
#ifndef ASSAY_ENGINES_APPROXIMATE_BF16_ENGINE_H_
#define ASSAY_ENGINES_APPROXIMATE_BF16_ENGINE_H_

#include "engine/engine.h"

namespace assay::fast {

// Takes dots of 2^20 products and more whose panels would be half full at least.
const Engine& Bf16Engine(native::Isa isa);
// Takes dots of any size: for tests.
const Engine& EagerBf16Engine(native::Isa isa);

}  // namespace assay::fast

#endif  // ASSAY_ENGINES_APPROXIMATE_BF16_ENGINE_H_
