// A second way to round real numbers to float formats, for tests only: formats of up to 16 bits by searching
// the list of their values for the two neighbours and comparing with the midpoint; f32 and f64 by MPFR's own
// emulation of IEEE formats (exponent range and mpfr_subnormalize).
#ifndef ASSAY_TESTS_EVALUATOR_SCALAR_ROUNDING_ORACLE_H_
#define ASSAY_TESTS_EVALUATOR_SCALAR_ROUNDING_ORACLE_H_

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "literal/float_format.h"
#include "shape/element_type.h"

namespace assay::testing {

inline const FloatFormat& Format(ElementType type) { return *Info(type).format; }
inline const FloatFormat& F32() { return Format(ElementType::kF32); }
inline const FloatFormat& F64() { return Format(ElementType::kF64); }
inline uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kMax = std::numeric_limits<double>::max();
inline constexpr double kTiny = 0x1p-1074;

class RoundingOracle {
 public:
  explicit RoundingOracle(ElementType type) : format_(Format(type)) {
    if (format_.bits > 16) return;
    for (uint64_t bits = 0; bits < uint64_t{1} << format_.bits; ++bits) {
      const double value = DecodeFloat(bits, format_);
      if (std::isfinite(value) && !std::signbit(value)) values_.push_back(value);
      if (value == format_.max_finite) break;
    }
  }

  // Of a value that is exact, or so close to the truth that the neighbours decide alike.
  double Round(mpfr_srcptr x) const {
    if (mpfr_nan_p(x)) return CanonicalNaN(format_);
    if (format_.specials == FloatSpecials::kE8M0) return RoundE8M0(x);
    return format_.bits > 16 ? RoundIeee(x) : RoundByList(x);
  }

 private:
  double RoundE8M0(mpfr_srcptr x) const {
    if (mpfr_sgn(x) <= 0 || mpfr_inf_p(x)) return CanonicalNaN(format_);
    int exponent = -127;
    while (exponent < 128 && mpfr_cmp_d(x, std::ldexp(1.5, exponent)) >= 0) ++exponent;
    return exponent > 127 ? CanonicalNaN(format_) : std::ldexp(1.0, exponent);
  }

  double RoundIeee(mpfr_srcptr x) const {
    const bool wide = format_.bits == 64;
    mpfr_t y;
    mpfr_init2(y, wide ? 53 : 24);
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(wide ? -1073 : -148);
    mpfr_set_emax(wide ? 1024 : 128);
    int ternary = mpfr_set(y, x, MPFR_RNDN);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    const double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(y);
    return result;
  }

  double RoundByList(mpfr_srcptr x) const {
    const bool negative = mpfr_signbit(x) != 0;
    mpfr_t magnitude;
    mpfr_init2(magnitude, mpfr_get_prec(x));
    mpfr_abs(magnitude, x, MPFR_RNDN);
    // The first value whose upper midpoint is not passed; the value after the largest is one step beyond it.
    size_t low = 0, high = values_.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      const double value = values_[middle];
      const double next = middle + 1 < values_.size() ? values_[middle + 1] : 2 * value - values_[middle - 1];
      const int order = mpfr_cmp_d(magnitude, value + (next - value) / 2);
      const bool stays = order < 0 || (order == 0 && middle % 2 == 0);
      (stays ? high : low) = stays ? middle : middle + 1;
    }
    mpfr_clear(magnitude);
    double result = low < values_.size() ? values_[low] : Overflow();
    if (result == 0 && !format_.has_negative_zero()) return 0.0;
    return std::isnan(result) ? CanonicalNaN(format_) : std::copysign(result, negative ? -1.0 : 1.0);
  }

  double Overflow() const {
    if (format_.has_infinity()) return std::numeric_limits<double>::infinity();
    return format_.has_nan() ? std::numeric_limits<double>::quiet_NaN() : format_.max_finite;
  }

  const FloatFormat& format_;
  std::vector<double> values_;
};

// All values of a type of up to 16 bits, NaN once.
inline std::vector<double> AllValues(ElementType type) {
  const FloatFormat& format = Format(type);
  std::vector<double> values{std::numeric_limits<double>::quiet_NaN()};
  for (uint64_t bits = 0; bits < uint64_t{1} << format.bits; ++bits) {
    const double value = DecodeFloat(bits, format);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_EVALUATOR_SCALAR_ROUNDING_ORACLE_H_
