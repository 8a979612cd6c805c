// Bound: |sum - s| <= (n + 16) 2^-53 T with T = sum |a_k b_k| as added beside s (product_bounds.h).
#include "evaluator/native/small_dot.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "evaluator/native/product_bounds.h"
#include "evaluator/native/tiers.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

// One operand: its rows, and where the result's elements of each lie.
struct Side {
  StridedRows<double> source;
  std::vector<int64_t> at;
};

class SmallDot {
 public:
  SmallDot(const SumKernels& kernels, int64_t length, ElementType type, std::byte* result)
      : kernels_(kernels),
        length_(length),
        type_(type),
        format_(*Info(type).format),
        rounding_(format_),
        factor_(DoublesFactor(length)),
        result_(result) {}

  // few: rows that are multiplied by panels of the `many` others.
  void Run(const Side& few, const Side& many, const std::vector<int64_t>& batch_at) {
    const auto rows = static_cast<int64_t>(few.at.size()), columns = static_cast<int64_t>(many.at.size());
    const int width = kernels_.tile_columns;
    const int64_t sums_size = rows * width;
    const std::unique_ptr<double[]> buffer(new double[rows * length_ + width * length_ + 2 * sums_size]);
    double *const a = buffer.get(), *const b = a + rows * length_, *const sums = b + width * length_;
    TierCounts counts;
    for (size_t batch = 0; batch < batch_at.size(); ++batch) {
      few.source.Rows(batch, 0, rows, a, length_);
      for (int64_t column = 0; column < columns; column += width) {
        const int64_t count = std::min<int64_t>(width, columns - column);
        many.source.Pack(batch, column, count, width, b);
        kernels_.few_rows(rows, length_, a, b, sums, sums + sums_size);
        for (int64_t r = 0; r < rows; ++r) {
          RoundRow(a + r * length_, b, sums + r * width, sums + sums_size + r * width, count, counts);
          Store(&many.at[column], count, result_ + (batch_at[batch] + few.at[r]) * Bytes(type_));
        }
      }
    }
    counts.sums += rows * columns * static_cast<int64_t>(batch_at.size());
    CountTiers(counts);
  }

 private:
  void RoundRow(const double* a, const double* b, const double* sums, const double* magnitudes, int64_t count,
                TierCounts& counts) {
    int64_t failed[kMaxPanelWidth];
    if (!kernels_.round_few(kernels_.tile_columns, sums, magnitudes, factor_, rounding_, out_, failed))
      return;
    for (int64_t j = 0; j < count; ++j) {
      if (failed[j] == 0) continue;
      // Zeros alone, with the right sign, or a special value: of finite exact products no sum in doubles is infinite.
      if (magnitudes[j] == 0 || !std::isfinite(sums[j])) {
        out_[j] = RoundToFormat(sums[j], format_);
        continue;
      }
      ++counts.pairs;
      ++counts.slices;
      ExactSum sum;
      sum.AddProducts(a, 1, b + j, kernels_.tile_columns, length_);
      out_[j] = sum.Round(format_);
    }
  }

  void Store(const int64_t* at, int64_t count, std::byte* dst) const {
    const int64_t bytes = Bytes(type_), step = count > 1 ? at[1] - at[0] : 1;
    bool regular = true;
    for (int64_t j = 1; regular && j < count; ++j) regular = at[j] - at[j - 1] == step;
    if (regular) return StoreStrip(type_, out_, count, dst + at[0] * bytes, step * bytes);
    for (int64_t j = 0; j < count; ++j) StoreStrip(type_, out_ + j, 1, dst + at[j] * bytes, bytes);
  }

  const SumKernels& kernels_;
  const int64_t length_;
  const ElementType type_;
  const FloatFormat& format_;
  const NarrowRounding rounding_;
  const double factor_;
  std::byte* const result_;
  double out_[kMaxPanelWidth];
};

}  // namespace

void RunSmallDot(const SumKernels& kernels, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                 ElementType type, std::byte* result) {
  const LoopDims& contracted = box.contracted[0].loops;
  const Side left{{kernels, lhs.type, lhs.data, {box.batch, box.rows, contracted, 0}},
                  OffsetsOf(box.rows, 2)},
      right{{kernels, rhs.type, rhs.data, {box.batch, box.columns, contracted, 1}},
            OffsetsOf(box.columns, 2)};
  SmallDot dot(kernels, LoopCount(contracted), type, result);
  const bool more_columns = right.at.size() >= left.at.size();
  dot.Run(more_columns ? left : right, more_columns ? right : left, OffsetsOf(box.batch, 2));
}

}  // namespace assay::native
