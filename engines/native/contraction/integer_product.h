// Batches of integer matrix products modulo 2^w: what dot and convolution of integers and pred share.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PRODUCT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PRODUCT_H_

#include "engines/native/contraction/integer_kernels.h"
#include "engines/native/contraction/integer_panels.h"
#include "evaluator/eval_context.h"

namespace assay::native {

struct IntegerProduct {
  int64_t batches = 1, rows = 0, columns = 0, length = 0;
  const IntegerPanels* lhs = nullptr;
  const IntegerPanels* rhs = nullptr;
  // The elements are a + lhs_offset and b + rhs_offset for the packed a and b; of bytes.
  int lhs_offset = 0, rhs_offset = 0;
  bool has_offsets() const { return lhs_offset != 0 || rhs_offset != 0; }
  ElementType type = ElementType::kS32;
  // Element (b, i, j) is element batch_at[b] + row_at[i] + column_at[j] of type `type` at `result`.
  std::byte* result = nullptr;
  std::vector<int64_t> batch_at, row_at, column_at;
};

// The best kernel for products of these types, summed in `result`.
// Bytes are packed as such where element_bytes is 1.
const IntegerKernel& IntegerKernelFor(Isa isa, ElementType lhs, ElementType rhs, ElementType result);

absl::Status RunIntegerProduct(EvalContext& context, const IntegerKernel& kernel,
                               const IntegerProduct& product);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_PRODUCT_H_
