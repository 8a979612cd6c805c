// Batches of matrix products of rows of bf16, each element rounded to bf16 once, by instructions for pairs of
// bf16 (bf16_kernels.h): in half the time of sums in doubles (matrix_product.h).
//
// The sums in f32 and their bound leave a few per cent of the elements open. Those are summed in doubles,
// which is nearly always exact, and the rest by an exact accumulator.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_PRODUCT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_PRODUCT_H_

#include "engines/native/contraction/bf16_kernels.h"
#include "engines/native/contraction/product_kernel.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// The kernels for such products, null where others are better.
const Bf16Kernels* Bf16ProductKernels(ElementType lhs, ElementType rhs, ElementType result, Isa isa);

// Whether the sizes are worth it.
bool IsWorthBf16Product(int64_t batches, int64_t rows, int64_t columns, int64_t length);

// False where that is the wrong way: a row of the result is no run of neighbours, or an element is not finite
// or far smaller than others of its row, or too many sums are left open, since they cancel or are ties. Then
// nothing is charged, and the result is not written or only in part.
absl::StatusOr<bool> RunBf16Product(EvalContext& context, const Bf16Kernels& kernels,
                                    const RowSource<float>& lhs, const RowSource<float>& rhs, int64_t length,
                                    const ResultLayout& result);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_PRODUCT_H_
