#include "engines/native/sums/product_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::native {
namespace {

// This is more than the rounding of the norms of rows of up to 2^22 elements.
constexpr double kUp = 1 + 0x1p-28;
// Bounds on elements that keep products, and their errors, well inside a double's range.
constexpr double kLargestFactor = 0x1p480, kSmallestFactor = 0x1p-430;

}  // namespace

RowScale ScaleOf(const RowStatistics& statistics, int row) {
  RowScale scale;
  const double smallest = statistics.smallest[row];
  if (std::isinf(smallest) && statistics.squares[row] == 0 && statistics.bits[row] << 1 == 0) return scale;
  scale.norm = std::sqrt(statistics.squares[row]) * kUp;
  scale.products_in_range = statistics.largest[row] <= kLargestFactor && smallest >= kSmallestFactor &&
                            std::isfinite(statistics.squares[row]);
  // The lowest bit of any element is worth at least 2^(exponent of the smallest - 52 + common zero bits).
  const int zeros = std::countr_zero(statistics.bits[row] | uint64_t{1} << 52);
  const double unit = std::ldexp(1.0, std::ilogb(smallest) - 52 + zeros);
  scale.unit = unit;
  scale.ratio = unit > 0 ? scale.norm / unit * kUp : HUGE_VAL;
  return scale;
}

SplitScale SplitScaleOf(const RowScale& scale, int64_t n) {
  if (!scale.products_in_range) return {HUGE_VAL, HUGE_VAL, 1, 1};
  if (scale.norm == 0) return {0, 0, 1, 1};
  // The high parts' norm is at most norm + sqrt(n) q / 2 < norm (1 + 2^-17) for rows of up to 2^17 elements.
  const double high_unit = std::ldexp(1.0, std::ilogb(scale.norm * (1 + 0x1p-16)) + 1 - 26);
  const double low_norm = scale.unit >= high_unit
                              ? 0
                              : std::min(scale.norm, std::sqrt(static_cast<double>(n)) * high_unit / 2 * kUp);
  return {scale.norm, low_norm, scale.unit, high_unit};
}

// Low parts of elements whose products are in range are multiples of 2^-482: no square underflows.
double LowNormOf(double squares) { return std::sqrt(squares) * kUp; }

double DoublesFactor(int64_t chain) { return static_cast<double>(chain + 16) * 0x1p-53 * kUp; }

double PairsBound(int64_t n, const RowScale& a, const RowScale& b) {
  const auto count = static_cast<double>(n + 16);
  if (2 * count * a.ratio * b.ratio < 0x1p105) return 0;
  return 4 * count * count * a.norm * b.norm * 0x1p-106 * kUp;
}

}  // namespace assay::native
