// Rounding of truncated exact values: to f64 by integer arithmetic; to narrower formats by rounding to odd at
// 53 bits, which keeps every decision open, and then RoundToFormat (literal/float_format.h).
#include "evaluator/scalar/rounding.h"

#include <algorithm>
#include <cmath>

#include "literal/float_format.h"

namespace assay {
namespace {

constexpr int kDropForDouble = 64 - 53;
constexpr int64_t kDoubleMinExponent = -1022;
// It is beyond every threshold of the formats narrower than f64, and well inside a double's range.
constexpr int64_t kFarExponent = 1000;

double RoundToDouble(const Truncated& v) {
  const int64_t top = v.exponent + 63;  // 2^top <= |v| < 2^(top + 1)
  if (top > 1023) return HUGE_VAL;
  const int64_t drop = kDropForDouble + std::max<int64_t>(0, kDoubleMinExponent - top);
  if (drop > 64) return 0.0;
  const uint64_t truncated = drop < 64 ? v.mantissa >> drop : 0;
  const uint64_t rest = v.mantissa << (64 - drop);
  const uint64_t half = uint64_t{1} << 63;
  const bool up = rest > half || (rest == half && (v.sticky || (truncated & 1) != 0));
  // This is at most 2^53 times a power of two, so it is exact, or infinite.
  return std::ldexp(static_cast<double>(truncated + (up ? 1 : 0)), static_cast<int>(v.exponent + drop));
}

double RoundToOdd(const Truncated& v) {
  const int64_t top = std::clamp<int64_t>(v.exponent + 63, -kFarExponent, kFarExponent);
  const bool inexact = v.sticky || (v.mantissa << (64 - kDropForDouble)) != 0;
  const uint64_t odd = (v.mantissa >> kDropForDouble) | (inexact ? 1 : 0);
  return std::ldexp(static_cast<double>(odd), static_cast<int>(top - 52));
}

}  // namespace

double RoundTruncated(const Truncated& v, const FloatFormat& format) {
  const double magnitude = IsDouble(format) ? RoundToDouble(v) : RoundToOdd(v);
  return RoundToFormat(v.negative ? -magnitude : magnitude, format);
}

double RoundTiny(bool negative, const FloatFormat& format) {
  return RoundTruncated({.negative = negative, .mantissa = uint64_t{1} << 63, .exponent = -5000}, format);
}

}  // namespace assay
