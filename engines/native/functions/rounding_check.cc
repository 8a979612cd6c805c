#include "engines/native/functions/rounding_check.h"

#include <bit>
#include <cmath>
#include <limits>

#include "engines/native/functions/arithmetic.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

// Below this, the low parts of approximations lose bits.
constexpr double kSmallest = 0x1p-960;

// Rounds to f64. The ends hi + (lo -+ e) are computed with an error of u (|lo| + e),
// which the bounds have room for.
ASSAY_BODY int64_t TestF64Body(int64_t n, const double* hi, const double* lo, double bound, double* out,
                               uint64_t* undecided) {
  uint64_t count = 0;
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    const double magnitude = Absolute(hi[i]);
    const double error = magnitude * bound;
    const double below = hi[i] + (lo[i] - error), above = hi[i] + (lo[i] + error);
    const uint64_t open = below == above ? 0 : 1;
    const uint64_t tiny = magnitude >= kSmallest ? 0 : 1;
    out[i] = above;
    undecided[i] = open | tiny;
    count += open | tiny;
  }
  return static_cast<int64_t>(count);
}

ASSAY_BODY int64_t TestF32Body(int64_t n, const double* v, double bound, double* out, uint64_t* undecided) {
  uint64_t count = 0;
  const double less = 1 - bound, more = 1 + bound;
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    const double below = static_cast<float>(v[i] * less), above = static_cast<float>(v[i] * more);
    const uint64_t open = below == above ? 0 : 1;
    out[i] = above;
    undecided[i] = open;
    count += open;
  }
  return static_cast<int64_t>(count);
}

// What RoundNarrow needs to know of a format with a sign.
struct Narrow {
  explicit Narrow(const FloatFormat& f)
      : smallest(std::ldexp(1.0, f.min_exponent)),
        scale(std::ldexp(1.0, 52 - f.mantissa_bits)),
        largest(f.max_finite),
        beyond(std::ldexp(1.0, f.max_exponent + 2)),
        overflow(RoundToFormat(beyond, f)),
        zero_sign(f.has_negative_zero() ? kSign : 0),
        overflow_sign(std::isnan(overflow) ? 0 : kSign) {}
  static constexpr uint64_t kSign = uint64_t{1} << 63;
  double smallest, scale, largest, beyond, overflow;
  uint64_t zero_sign, overflow_sign;
};

// RoundToFormat without branches. Adding 2^(e + dropped bits) to a magnitude of exponent e rounds it at the
// format's last place, to nearest even; e is kept at or above that of the smallest normal.
ASSAY_BODY double RoundNarrow(double value, const Narrow& f) {
  const double magnitude = Choose(Absolute(value) > f.beyond, f.beyond, Absolute(value));
  const double exponent = FromBits(BitsOf(magnitude) & (uint64_t{0x7ff} << 52));
  const double power = Choose(exponent > f.smallest, exponent, f.smallest) * f.scale;
  const double rounded = (magnitude + power) - power;
  const bool over = rounded > f.largest;
  uint64_t sign = BitsOf(value) & (over ? f.overflow_sign : Narrow::kSign);
  sign &= rounded == 0 ? f.zero_sign : Narrow::kSign;
  return FromBits(BitsOf(Choose(over, f.overflow, rounded)) | sign);
}

ASSAY_BODY int64_t TestNarrowBody(int64_t n, const double* v, double bound, const FloatFormat& format,
                                  double* out, uint64_t* undecided) {
  const Narrow narrow(format);
  uint64_t count = 0;
  const double less = 1 - bound, more = 1 + bound;
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    const double below = RoundNarrow(v[i] * less, narrow), above = RoundNarrow(v[i] * more, narrow);
    const uint64_t open = BitsOf(below) == BitsOf(above) ? 0 : 1;
    const uint64_t unknown = v[i] == v[i] ? 0 : 1;
    out[i] = above;
    undecided[i] = open | unknown;
    count += open | unknown;
  }
  return static_cast<int64_t>(count);
}

// e8m0 has neither sign nor zero and rounds ties up: one value at a time.
int64_t TestE8M0(int64_t n, const double* hi, const double*, double bound, const FloatFormat& format,
                 double* out, uint64_t* undecided) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double below = RoundToFormat(hi[i] * (1 - bound), format);
    out[i] = RoundToFormat(hi[i] * (1 + bound), format);
    undecided[i] = BitsOf(below) != BitsOf(out[i]) || std::isnan(hi[i]);
    count += static_cast<int64_t>(undecided[i]);
  }
  return count;
}

#define ASSAY_ROUNDING_TESTS(ISA, TARGET)                                                                   \
  TARGET int64_t TestF64##ISA(int64_t n, const double* hi, const double* lo, double bound,                  \
                              const FloatFormat&, double* out, uint64_t* undecided) {                       \
    return TestF64Body(n, hi, lo, bound, out, undecided);                                                   \
  }                                                                                                         \
  TARGET int64_t TestF32##ISA(int64_t n, const double* hi, const double*, double bound, const FloatFormat&, \
                              double* out, uint64_t* undecided) {                                           \
    return TestF32Body(n, hi, bound, out, undecided);                                                       \
  }                                                                                                         \
  TARGET int64_t TestNarrow##ISA(int64_t n, const double* hi, const double*, double bound,                  \
                                 const FloatFormat& format, double* out, uint64_t* undecided) {             \
    return TestNarrowBody(n, hi, bound, format, out, undecided);                                            \
  }
ASSAY_ROUNDING_TESTS(Baseline, )
ASSAY_ROUNDING_TESTS(Avx2, ASSAY_AVX2)
ASSAY_ROUNDING_TESTS(Avx512, ASSAY_AVX512)

constexpr RoundingTestFn kTestsF64[] = {TestF64Baseline, TestF64Avx2, TestF64Avx512};
constexpr RoundingTestFn kTestsF32[] = {TestF32Baseline, TestF32Avx2, TestF32Avx512};
constexpr RoundingTestFn kTestsNarrow[] = {TestNarrowBaseline, TestNarrowAvx2, TestNarrowAvx512};

// a + b rounded to odd at 53 bits: decided like a + b by every narrower format.
double SumToOdd(double a, double b) {
  const Pair s = ExactSum(a, b);
  const uint64_t bits = BitsOf(s.hi);
  if (s.lo == 0 || (bits & 1) != 0) return s.hi;
  return FromBits(std::signbit(s.hi) == std::signbit(s.lo) ? bits + 1 : bits - 1);
}

}  // namespace

RoundingTestFn RoundingTestFor(const FloatFormat& format, Isa isa) {
  const auto i = static_cast<size_t>(isa);
  if (format.specials == FloatSpecials::kE8M0) return TestE8M0;
  if (format.mantissa_bits == 52) return kTestsF64[i];
  return format.mantissa_bits == 23 ? kTestsF32[i] : kTestsNarrow[i];
}

std::optional<double> RoundIfDecided(double hi, double lo, double bound, const FloatFormat& format) {
  const double magnitude = std::fabs(hi);
  if (!(magnitude >= kSmallest && magnitude <= std::numeric_limits<double>::max())) return std::nullopt;
  const double error = magnitude * bound;
  const bool is_double = format.mantissa_bits == 52;
  const double below = is_double ? hi + (lo - error) : SumToOdd(hi, lo - error);
  const double above = is_double ? hi + (lo + error) : SumToOdd(hi, lo + error);
  const double rounded = RoundToFormat(above, format);
  if (BitsOf(RoundToFormat(below, format)) != BitsOf(rounded)) return std::nullopt;
  return rounded;
}

}  // namespace assay::native
