#include "prove/number_format.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::prove {
namespace {

using T = ElementType;

// type, width, mantissa bits, bias, largest finite value, NaN, overflow, has -0
constexpr NumberFormat kFormats[] = {
    {T::kF4E2M1FN, 4, 1, 1, 0x7, 0x8, Beyond::kSaturate, true},
    {T::kF6E2M3FN, 6, 3, 1, 0x1f, 0x20, Beyond::kSaturate, true},
    {T::kF6E3M2FN, 6, 2, 3, 0x1f, 0x20, Beyond::kSaturate, true},
    {T::kF8E3M4, 8, 4, 3, 0x6f, 0x78, Beyond::kInfinity, true},
    {T::kF8E4M3, 8, 3, 7, 0x77, 0x7c, Beyond::kInfinity, true},
    {T::kF8E4M3B11FNUZ, 8, 3, 11, 0x7f, 0x80, Beyond::kNaN, false},
    {T::kF8E4M3FN, 8, 3, 7, 0x7e, 0x7f, Beyond::kNaN, true},
    {T::kF8E4M3FNUZ, 8, 3, 8, 0x7f, 0x80, Beyond::kNaN, false},
    {T::kF8E5M2, 8, 2, 15, 0x7b, 0x7e, Beyond::kInfinity, true},
    {T::kF8E5M2FNUZ, 8, 2, 16, 0x7f, 0x80, Beyond::kNaN, false},
    {T::kF8E8M0FNU, 8, 0, 127, 0xfe, 0xff, Beyond::kNaN, false, true},
    {T::kBF16, 16, 7, 127, 0x7f7f, 0x7fc0, Beyond::kInfinity, true},
    {T::kF16, 16, 10, 15, 0x7bff, 0x7e00, Beyond::kInfinity, true},
    {T::kF32, 32, 23, 127, 0x7f7fffff, 0x7fc00000, Beyond::kInfinity, true},
    {T::kF64, 64, 52, 1023, 0x7fefffffffffffff, 0x7ff8000000000000, Beyond::kInfinity, true},
};

consteval bool HasEveryFloat() {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    bool has = !kFloatTypes.Has(type);
    for (const NumberFormat& format : kFormats) has |= format.type == type;
    if (!has) return false;
  }
  return true;
}
static_assert(HasEveryFloat());

uint64_t SignOf(const NumberFormat& format) { return uint64_t{1} << (format.bits - 1); }

// The value of a magnitude pattern if the format went on for ever: the one after the largest is the number
// at which, from the middle on, overflow begins.
double Magnitude(uint64_t pattern, const NumberFormat& format) {
  if (format.power_only) return std::ldexp(1.0, static_cast<int>(pattern) - format.bias);
  const int exponent = static_cast<int>(pattern >> format.mantissa_bits);
  const double fraction = static_cast<double>(pattern & ((uint64_t{1} << format.mantissa_bits) - 1));
  const double one = static_cast<double>(uint64_t{1} << format.mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - format.bias - format.mantissa_bits)
                       : std::ldexp(one + fraction, exponent - format.bias - format.mantissa_bits);
}

uint64_t Overflow(bool negative, const NumberFormat& format) {
  const uint64_t sign = negative ? SignOf(format) : 0;
  switch (format.beyond) {
    case Beyond::kInfinity:
      return sign | (format.largest + 1);
    case Beyond::kSaturate:
      return sign | format.largest;
    case Beyond::kNaN:
      break;
  }
  return format.nan;
}

// -1, 0, 1: x against a double.
int Compare(const Real& x, double bound) {
  if (x.magnitude != bound) return x.magnitude < bound ? -1 : 1;
  return x.cut ? 1 : 0;
}

// f8e8m0fnu: a tie goes up, everything positive below the smallest value gives it.
uint64_t RoundPower(const Real& x, const NumberFormat& format) {
  if (x.negative || Compare(x, 0) == 0) return format.nan;
  for (uint64_t pattern = 0; pattern <= format.largest; ++pattern) {
    if (Compare(x, 1.5 * Magnitude(pattern, format)) < 0) return pattern;
  }
  return format.nan;
}

}  // namespace

std::span<const NumberFormat> NumberFormats() { return kFormats; }

const NumberFormat& FormatOf(ElementType type) {
  for (const NumberFormat& format : kFormats) {
    if (format.type == type) return format;
  }
  ASSAY_CHECK(false);
}

double ValueOf(uint64_t pattern, const NumberFormat& format) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (format.power_only) return pattern == format.nan ? kNaN : Magnitude(pattern, format);
  const bool negative = (pattern & SignOf(format)) != 0;
  const uint64_t rest = pattern & (SignOf(format) - 1);
  if (negative && rest == 0 && !format.negative_zero) return kNaN;
  double magnitude = Magnitude(rest, format);
  if (rest > format.largest) {
    const bool infinite = format.beyond == Beyond::kInfinity && rest == format.largest + 1;
    magnitude = infinite ? std::numeric_limits<double>::infinity() : kNaN;
  }
  return negative ? -magnitude : magnitude;
}

Real RealOf(double x) { return {std::fabs(x), std::signbit(x), false}; }

Real RealOf(mpfr_srcptr value, int ternary) {
  const double x = mpfr_get_d(value, MPFR_RNDZ);
  Real real = RealOf(x);
  real.negative = mpfr_signbit(value) != 0;
  real.cut = ternary != 0 || (mpfr_number_p(value) && mpfr_cmp_d(value, x) != 0);
  return real;
}

uint64_t RoundReal(const Real& x, const NumberFormat& format) {
  if (std::isnan(x.magnitude)) return format.nan;
  if (format.power_only) return RoundPower(x, format);
  // The last pattern whose value is not above x.
  uint64_t low = 0, high = format.largest + 1;
  if (Compare(x, Magnitude(high, format)) >= 0) return Overflow(x.negative, format);
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (Compare(x, Magnitude(middle, format)) >= 0 ? low : high) = middle;
  }
  // Both halves of the sum, and the sum, are doubles exactly: they have at most 25 bits.
  const double half_way = Magnitude(low, format) / 2 + Magnitude(high, format) / 2;
  const int side = Compare(x, half_way);
  const uint64_t rounded = side > 0 || (side == 0 && low % 2 != 0) ? high : low;
  if (rounded > format.largest) return Overflow(x.negative, format);
  if (rounded == 0 && !format.negative_zero) return 0;
  return rounded | (x.negative ? SignOf(format) : 0);
}

// MPFR's numbers are 0.1xxx * 2^e: doubles end below 2^1024, and 2^-1074 = 0.1 * 2^-1073.
DoubleRange::DoubleRange() : min_(mpfr_get_emin()), max_(mpfr_get_emax()) {
  mpfr_set_emin(-1073);
  mpfr_set_emax(1024);
}
DoubleRange::~DoubleRange() {
  mpfr_set_emin(min_);
  mpfr_set_emax(max_);
}

uint64_t RoundDouble(mpfr_ptr value, int ternary) {
  mpfr_subnormalize(value, ternary, MPFR_RNDN);
  if (mpfr_nan_p(value)) return FormatOf(ElementType::kF64).nan;
  return std::bit_cast<uint64_t>(mpfr_get_d(value, MPFR_RNDN));
}

}  // namespace assay::prove
