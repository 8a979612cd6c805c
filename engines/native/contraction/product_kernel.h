// Contractions of any element types as matrix products: what the kernels of dot and convolution are made of.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_KERNEL_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_KERNEL_H_

#include "engines/native/contraction/integer_kernels.h"
#include "engines/native/contraction/integer_product.h"
#include "engines/native/contraction/matrix_product.h"

namespace assay::native {

// Which products of elements are computed, and how.
struct ProductKind {
  const SumKernels* sums = nullptr;
  const SplitKernels* splits = nullptr;
  const IntegerKernel* integers = nullptr;  // else sums of doubles:
  bool lhs_signed = false, rhs_signed = false;
  ElementType component = ElementType::kF32;  // of the result
  bool complex = false;                       // both operands and the result
  bool two_products = false;                  // the product of two elements may need more than 53 bits

  bool bytes() const { return integers != nullptr && integers->element_bytes == 1; }
};

// NotSupported with the reason for other element types.
absl::StatusOr<ProductKind> ProductKindOf(ElementType lhs, ElementType rhs, ElementType result, Isa isa);

// The result's positions: element (b, i, j) at batch_at[b] + row_at[i] + column_at[j].
struct ResultLayout {
  std::byte* data;
  ElementType type;
  std::vector<int64_t> batch_at, row_at, column_at;
};
// Left and right rows of `length` elements, in the form that the kind wants: StridedRows of doubles where
// kind.integers is null (complex: kComplexLeft, kComplexRight, length in elements), else of int64_t, or of
// bytes where kind.bytes().
absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<double>& lhs,
                      const RowSource<double>& rhs, int64_t length, ResultLayout result);
absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<int64_t>& lhs,
                      const RowSource<int64_t>& rhs, int64_t length, ResultLayout result);
absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<uint8_t>& lhs,
                      const RowSource<uint8_t>& rhs, int64_t length, ResultLayout result);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_PRODUCT_KERNEL_H_
