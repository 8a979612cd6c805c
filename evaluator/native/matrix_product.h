// Batches of exact matrix products, each element rounded once: what dot and convolution of floats share.
//
// Rows of both operands are packed as doubles. Tiers: a sum in doubles with a bound, a sum in pairs, and a sum
// in slices that is exact whatever the terms are (product_bounds.h, sum_kernels.h). Most elements are settled
// by the first.
#ifndef ASSAY_EVALUATOR_NATIVE_MATRIX_PRODUCT_H_
#define ASSAY_EVALUATOR_NATIVE_MATRIX_PRODUCT_H_

#include <cstddef>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/native/sum_kernels.h"

namespace assay::native {

// The rows of one operand: `length` elements each, those of row r of a batch multiplying those of the other
// operand's rows of that batch.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // panel[k * width + r] = element k of row first + r, zero for count <= r < width.
  virtual void Pack(int64_t batch, int64_t first, int64_t count, int width, double* panel) const = 0;
  // Whether some element is no term of its row's sums (padding of a convolution), and which; it packs as zero.
  virtual bool has_gaps() const { return false; }
  virtual bool IsTerm(int64_t /*batch*/, int64_t /*row*/, int64_t /*k*/) const { return true; }
};

struct MatrixProduct {
  int64_t batches = 1, rows = 0, columns = 0, length = 0;
  const RowSource* lhs = nullptr;
  const RowSource* rhs = nullptr;  // without gaps
  bool two_products = false;       // products are not exact in doubles
  ElementType type = ElementType::kF32;
  // Element (b, i, j) is component batch_at[b] + row_at[i] + column_at[j] of type `type` at `result`.
  std::byte* result = nullptr;
  std::vector<int64_t> batch_at, row_at, column_at;
};

// Rows longer than this are not packed.
inline constexpr int64_t kLongestRow = 1 << 17;

absl::Status RunMatrixProduct(EvalContext& context, const SumKernels& kernels, const MatrixProduct& product);

// How many sums the kernels of this process have rounded, and how many of them needed pairs and slices.
struct TierCounts {
  int64_t sums = 0, pairs = 0, slices = 0;
};
TierCounts Tiers();
void CountTiers(const TierCounts& more);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_MATRIX_PRODUCT_H_
