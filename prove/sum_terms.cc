// Rows of terms that are hard to add: cancelling, half way between two results, at the ends of the range.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "prove/sums.h"

namespace assay::prove {
namespace {

// The value of the format nearest x; f64 holds every x.
double Nearest(double x, const NumberFormat& format) {
  return format.bits == 64 ? x : ValueOf(RoundReal(RealOf(x), format), format);
}
double Largest(const NumberFormat& format) {
  return format.bits == 64 ? std::numeric_limits<double>::max() : ValueOf(format.largest, format);
}
double Smallest(const NumberFormat& format) {
  return format.bits == 64 ? std::numeric_limits<double>::denorm_min() : ValueOf(1, format);
}
int LargestExponent(const NumberFormat& format) { return std::ilogb(Largest(format)); }

// A random significand of the format in [1, 2), with either sign.
double Significand(const NumberFormat& format, Random& random) {
  const uint64_t mantissa = random.Next() >> (64 - format.mantissa_bits);
  const double x = 1 + std::ldexp(static_cast<double>(mantissa), -format.mantissa_bits);
  return random.Below(2) ? x : -x;
}

double AnyFinite(const NumberFormat& format, Random& random) {
  const uint64_t magnitude = random.Next() % (format.largest + 1);
  const double x = format.bits == 64 ? std::bit_cast<double>(magnitude) : ValueOf(magnitude, format);
  return random.Below(2) && (x != 0 || format.negative_zero) ? -x : x;
}

double Special(const NumberFormat& format, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (random.Below(6)) {
    case 0:
      return Nearest(infinity, format);
    case 1:
      return Nearest(-infinity, format);
    case 2:
      return Nearest(std::numeric_limits<double>::quiet_NaN(), format);
    default:
      return Nearest(-0.0, format);
  }
}

// v, and half a unit in its last place in two or more terms, and perhaps a hair more or less;
// the rest cancels.
void Tie(std::vector<double>& row, const NumberFormat& format, Random& random) {
  const int low = 2 - format.bias + 2;  // so that half a unit of v is a value of the format or nearly
  const int exponent = low + static_cast<int>(random.Below(std::max(1, LargestExponent(format) - low)));
  const double half_unit = std::ldexp(0.5, exponent - format.mantissa_bits);
  std::vector<double> terms = {std::ldexp(Significand(format, random), exponent)};
  terms.push_back(random.Below(2) ? half_unit : -half_unit);
  if (random.Below(2)) terms.push_back(random.Below(2) ? Smallest(format) : -Smallest(format));
  while (terms.size() + 1 < row.size()) {
    const double x = std::ldexp(Significand(format, random), exponent - static_cast<int>(random.Below(12)));
    terms.insert(terms.end(), {x, -x});
  }
  for (size_t i = 0; i < row.size(); ++i) row[i] = i < terms.size() ? terms[i] : 0;
}

}  // namespace

std::vector<double> RandomTerms(Terms terms, int64_t n, const NumberFormat& format, Random& random) {
  std::vector<double> row(static_cast<size_t>(n));
  const int top = LargestExponent(format);
  const int center = static_cast<int>(random.Below(2 * top / 3 + 1)) - top / 3;
  for (double& x : row) {
    const int exponent = static_cast<int>(random.Below(20)) - 10;
    switch (terms) {
      case Terms::kRandom:
      case Terms::kCancelling:
        x = std::ldexp(Significand(format, random), std::clamp(center + exponent, -top, top));
        break;
      case Terms::kAny:
      case Terms::kTie:
        x = AnyFinite(format, random);
        break;
      case Terms::kSubnormal:
        x = static_cast<double>(random.Below(64) - 32) * Smallest(format);
        break;
      case Terms::kOverflow:
        x = (random.Below(2) ? 1 : -1) *
            (random.Below(3)
                 ? Largest(format)
                 : std::ldexp(Largest(format), -static_cast<int>(random.Below(format.mantissa_bits + 3))));
        break;
      case Terms::kIntegers:
        x = static_cast<double>(random.Below(33) - 16);
        break;
      case Terms::kSpecial:
        x = random.Below(4) ? std::ldexp(Significand(format, random), std::clamp(exponent, -top, top))
                            : Special(format, random);
        if (n % 3 == 0) x = -0.0;
        break;
    }
  }
  if (terms == Terms::kTie) Tie(row, format, random);
  if (terms == Terms::kCancelling || (terms == Terms::kOverflow && random.Below(2))) {
    const size_t kept = static_cast<size_t>(random.Below(3));
    for (size_t i = 0; i + kept + 1 < row.size(); i += 2) row[i + 1] = -row[i];
  }
  for (double& x : row) x = Nearest(x, format);
  for (int64_t i = n - 1; i > 0; --i) std::swap(row[i], row[random.Below(i + 1)]);
  return row;
}

}  // namespace assay::prove
