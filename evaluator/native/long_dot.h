// Dots whose rows are too long to pack: one exact sum of products after the other.
#ifndef ASSAY_EVALUATOR_NATIVE_LONG_DOT_H_
#define ASSAY_EVALUATOR_NATIVE_LONG_DOT_H_

#include "evaluator/native/product_kernel.h"
#include "evaluator/ops/dot_dims.h"

namespace assay::native {

// Of floats whose products are exact doubles.
absl::Status RunLongDot(EvalContext& context, const SumKernels& kernels, const DotArray& lhs,
                        const DotArray& rhs, const DotBox& box, ElementType type, std::byte* result);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_LONG_DOT_H_
