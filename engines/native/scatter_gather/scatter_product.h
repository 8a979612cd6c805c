// scatter whose combiner is the product of floats: window by window,
// each product rounded as the specification has it.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_PRODUCT_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_PRODUCT_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// Whether the combiner multiplies its two parameters and the elements are f32 or f64.
bool IsFloatProduct(const StepView& step);
std::shared_ptr<const Kernel> MakeScatterProduct(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_PRODUCT_H_
