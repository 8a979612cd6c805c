// Batches of exact matrix products, each element rounded once: what dot and convolution of floats share. An
// engine with a stated bound may have the first tier alone, whose sums round after every term.
//
// Rows of both operands are packed as doubles. Tiers: a sum in doubles with a bound (of
// f64, and where many are left open, three sums of split elements), a sum in pairs, and a sum in slices that
// is exact whatever the terms are (product_bounds.h, split_kernels.h, sum_kernels.h).
// Most elements are settled by the first.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_MATRIX_PRODUCT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_MATRIX_PRODUCT_H_

#include <cstddef>
#include <vector>

#include "engines/native/sums/row_source.h"
#include "engines/native/sums/split_kernels.h"
#include "evaluator/eval_context.h"

namespace assay::native {

enum class SumRounding : uint8_t {
  kOnce,       // an element is the exact sum of its products, rounded
  kEveryTerm,  // each product and each addition rounds to a double: `length` + 2 roundings at most
};

struct MatrixProduct {
  int64_t batches = 1, rows = 0, columns = 0, length = 0;
  const SumKernels* kernels = nullptr;
  const SplitKernels* splits = nullptr;
  const RowSource<double>* lhs = nullptr;
  const RowSource<double>* rhs = nullptr;  // without gaps
  bool two_products = false;               // products are not exact in doubles
  SumRounding rounding = SumRounding::kOnce;
  ElementType type = ElementType::kF32;
  // Element (b, i, j) is component batch_at[b] + row_at[i] + column_at[j] of type `type` at `result`.
  std::byte* result = nullptr;
  std::vector<int64_t> batch_at, row_at, column_at;
};

absl::Status RunMatrixProduct(EvalContext& context, const MatrixProduct& product);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_MATRIX_PRODUCT_H_
