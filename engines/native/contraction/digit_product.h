// Batches of matrix products of rows of short floats, each element rounded once, by digits in matrix
// registers (digit_kernels.h): several times as fast as sums in doubles (matrix_product.h), where few
// elements have remainders.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_PRODUCT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_PRODUCT_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "engines/native/contraction/digit_kernels.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// A panel of 16 rows of n elements in memory of DigitPanelBytes, 64-byte aligned,
// with room for `most` remainders.
int64_t DigitPanelBytes(int64_t n, int64_t most);
DigitPanel DigitPanelAt(std::byte* memory, int64_t n, int64_t most, const DigitScales* scales);

struct DigitProduct {
  int64_t batches = 1, rows = 0, columns = 0, length = 0;
  const DigitKernels* digits = nullptr;
  const SumKernels* sums = nullptr;
  const RowSource<float>* lhs = nullptr;  // without gaps
  const RowSource<float>* rhs = nullptr;
  ElementType type = ElementType::kF32;
  // Element (b, i, j) is element batch_at[b] + row_at[i] + j of type `type` at `result`.
  std::byte* result = nullptr;
  std::vector<int64_t> batch_at, row_at;
};

// Whether products of these types may be worth it: elements of at most 11 bits.
bool HasDigits(ElementType lhs, ElementType rhs, ElementType result);
// Whether rows are long enough, and not too long.
bool IsWorthDigits(int64_t batches, int64_t rows, int64_t columns, int64_t length);

// False where that is the wrong way for these values: too many remainders, infinities, NaNs, or too many sums
// that cancel. Then nothing is charged, and the result is not written or only in part. `exact` gives element
// (b, i, j) rounded; it is called while the thread's matrix registers are in use, so it must not cut a loop
// among threads: another part of this one, taken up meanwhile, would release them. Rows are short enough for
// that (SumTerms cuts at 2^16 terms).
using ExactElementFn = absl::FunctionRef<double(int64_t b, int64_t i, int64_t j, TierCounts& counts)>;
absl::StatusOr<bool> RunDigitProduct(EvalContext& context, const DigitProduct& product, ExactElementFn exact);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_PRODUCT_H_
