// Dots too small for tiles: nothing but the elements is made, and the bounds come with the sums.
#ifndef ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
#define ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_

#include "evaluator/native/product_kernel.h"
#include "evaluator/ops/dot_dims.h"

namespace assay::native {

inline constexpr int64_t kSmallDot = 1 << 16;  // products

// Of floats whose products are exact doubles; no array is empty.
void RunSmallDot(const SumKernels& kernels, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                 ElementType type, std::byte* result);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
