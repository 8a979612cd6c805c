#include "engines/native/sums/enclosed_sum.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

struct TwoSumPair {
  double high, low;  // high = RN(high + low)
};

TwoSumPair TwoSum(double a, double b) {
  const double s = a + b;
  const double z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

// high + low rounded toward zero at 53 bits, with the last bit set where that cut something off: rounds to
// any format but f64 as the exact value would (literal/float_format.h).
double RoundToOdd(TwoSumPair x) {
  if (x.low == 0) return x.high;
  auto bits = std::bit_cast<uint64_t>(x.high);
  if (std::signbit(x.high) != std::signbit(x.low)) --bits;
  return std::bit_cast<double>(bits | 1);
}

double RoundPair(TwoSumPair x, const FloatFormat& format) {
  return RoundToFormat(IsDouble(format) ? x.high : RoundToOdd(x), format);
}

}  // namespace

std::optional<double> RoundEnclosed(double sum, double error, double bound, const FloatFormat& format) {
  const TwoSumPair middle = TwoSum(sum, error);
  if (!std::isfinite(middle.high) || !std::isfinite(middle.low) || middle.high == 0) return std::nullopt;
  if (bound == 0) return RoundPair(middle, format);
  // low -+ bound is rounded itself, by at most 2^-53 * (|low| + bound).
  const double margin = bound + (bound + std::fabs(middle.low)) * 0x1p-51;
  const TwoSumPair least = TwoSum(middle.high, middle.low - margin);
  const TwoSumPair most = TwoSum(middle.high, middle.low + margin);
  if (!std::isfinite(least.high) || !std::isfinite(most.high)) return std::nullopt;
  if (least.high == 0 || most.high == 0 || std::signbit(least.high) != std::signbit(most.high))
    return std::nullopt;
  const double low = RoundPair(least, format), high = RoundPair(most, format);
  if (std::bit_cast<uint64_t>(low) != std::bit_cast<uint64_t>(high)) return std::nullopt;
  return low;
}

}  // namespace assay::native
