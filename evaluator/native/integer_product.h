// Batches of integer matrix products modulo 2^w: what dot and convolution of integers and pred share.
#ifndef ASSAY_EVALUATOR_NATIVE_INTEGER_PRODUCT_H_
#define ASSAY_EVALUATOR_NATIVE_INTEGER_PRODUCT_H_

#include "evaluator/eval_context.h"
#include "evaluator/native/integer_kernels.h"
#include "evaluator/native/row_source.h"

namespace assay::native {

struct IntegerProduct {
  int64_t batches = 1, rows = 0, columns = 0, length = 0;
  const RowSource<int64_t>* lhs = nullptr;
  const RowSource<int64_t>* rhs = nullptr;
  ElementType type = ElementType::kS32;
  // Element (b, i, j) is element batch_at[b] + row_at[i] + column_at[j] of type `type` at `result`.
  std::byte* result = nullptr;
  std::vector<int64_t> batch_at, row_at, column_at;
};

// The narrowest kernel for products of these types, summed in `result`.
const IntegerKernel& IntegerKernelFor(const IntegerKernels& kernels, ElementType lhs, ElementType rhs,
                                      ElementType result);

absl::Status RunIntegerProduct(EvalContext& context, const IntegerKernel& kernel,
                               const IntegerProduct& product);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_INTEGER_PRODUCT_H_
