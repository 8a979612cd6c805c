// Real functions, correctly rounded (docs/spec/operations-elementwise.md, NUM-1, NUM-3, NUM-4).
//
// Arithmetic is the machine's own double arithmetic rounded once more, where that second rounding is proven
// harmless; every other function is one MPFR call toward zero at 64 bits, whose ternary value tells
// whether anything was cut off, and one rounding from there (mpfr_real.h). MPFR's results for zeros,
// infinities and outside the domain are C99's, which are the specification's; the exceptions are spelled out.
#include "evaluator/scalar/real.h"

#include <mpfr.h>

#include <cmath>
#include <optional>

#include "evaluator/scalar/interval.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

double Apply(MpfrFn1 function, double x, const FloatFormat& format) {
  const MpfrReal argument(x);
  MpfrReal result(kTruncatedPrecision);
  const int ternary = function(result.get(), argument.get(), MPFR_RNDZ);
  return RoundMpfr(result.get(), ternary, format);
}

double Apply(MpfrFn2 function, double x, double y, const FloatFormat& format) {
  const MpfrReal first(x), second(y);
  MpfrReal result(kTruncatedPrecision);
  const int ternary = function(result.get(), first.get(), second.get(), MPFR_RNDZ);
  return RoundMpfr(result.get(), ternary, format);
}

// 1 / (1 + e^-x) between two bounds of `precision` bits.
std::optional<double> TryLogistic(double x, mpfr_prec_t precision, const FloatFormat& format) {
  const MpfrReal minus_x(-x);
  MpfrReal low(precision), high(precision);
  mpfr_exp(low.get(), minus_x.get(), MPFR_RNDU);
  mpfr_add_ui(low.get(), low.get(), 1, MPFR_RNDU);
  mpfr_ui_div(low.get(), 1, low.get(), MPFR_RNDD);
  mpfr_exp(high.get(), minus_x.get(), MPFR_RNDD);
  mpfr_add_ui(high.get(), high.get(), 1, MPFR_RNDD);
  mpfr_ui_div(high.get(), 1, high.get(), MPFR_RNDU);
  return RoundInterval(low.get(), high.get(), format);
}

}  // namespace

double RealAcos(double x, const FloatFormat& format) { return Apply(mpfr_acos, x, format); }
double RealAcosh(double x, const FloatFormat& format) { return Apply(mpfr_acosh, x, format); }
double RealAsin(double x, const FloatFormat& format) { return Apply(mpfr_asin, x, format); }
double RealAsinh(double x, const FloatFormat& format) { return Apply(mpfr_asinh, x, format); }
double RealAtan(double x, const FloatFormat& format) { return Apply(mpfr_atan, x, format); }
double RealAtanh(double x, const FloatFormat& format) { return Apply(mpfr_atanh, x, format); }
double RealCbrt(double x, const FloatFormat& format) { return Apply(mpfr_cbrt, x, format); }
double RealCos(double x, const FloatFormat& format) { return Apply(mpfr_cos, x, format); }
double RealCosh(double x, const FloatFormat& format) { return Apply(mpfr_cosh, x, format); }
double RealErf(double x, const FloatFormat& format) { return Apply(mpfr_erf, x, format); }
double RealErfc(double x, const FloatFormat& format) { return Apply(mpfr_erfc, x, format); }
double RealExp(double x, const FloatFormat& format) { return Apply(mpfr_exp, x, format); }
double RealExpm1(double x, const FloatFormat& format) { return Apply(mpfr_expm1, x, format); }
double RealLog(double x, const FloatFormat& format) { return Apply(mpfr_log, x, format); }
double RealLog1p(double x, const FloatFormat& format) { return Apply(mpfr_log1p, x, format); }
double RealSin(double x, const FloatFormat& format) { return Apply(mpfr_sin, x, format); }
double RealSinh(double x, const FloatFormat& format) { return Apply(mpfr_sinh, x, format); }
double RealTan(double x, const FloatFormat& format) { return Apply(mpfr_tan, x, format); }
double RealTanh(double x, const FloatFormat& format) { return Apply(mpfr_tanh, x, format); }

// MPFR gives infinities at the zeros, by their signs.
double RealDigamma(double x, const FloatFormat& format) {
  return x == 0 ? CanonicalNaN(format) : Apply(mpfr_digamma, x, format);
}

double RealLgamma(double x, const FloatFormat& format) {
  return Apply(
      [](mpfr_ptr result, mpfr_srcptr argument, mpfr_rnd_t rounding) {
        int sign = 0;  // of gamma
        return mpfr_lgamma(result, &sign, argument, rounding);
      },
      x, format);
}

// The exact value is rational only at 0, so more precision always decides. Far below zero it is smaller than
// any threshold, however small the bounds that MPFR can represent.
double RealLogistic(double x, const FloatFormat& format) {
  if (std::isnan(x)) return CanonicalNaN(format);
  if (x == 0) return RoundToFormat(0.5, format);
  if (std::isinf(x)) return RoundToFormat(x > 0 ? 1.0 : 0.0, format);
  if (x < -2000) return RoundTiny(false, format);
  for (mpfr_prec_t precision = 96;; precision *= 2) {
    if (const auto result = TryLogistic(x, precision, format)) return *result;
  }
}

// MPFR has 1/sqrt(-0) = +inf; here it is 1/(-0).
double RealRsqrt(double x, const FloatFormat& format) {
  if (x == 0) return RoundToFormat(1 / x, format);
  return Apply(mpfr_rec_sqrt, x, format);
}

// Add, subtract, multiply, divide, sqrt. Operands are values of formats no wider than the result's, so for a
// result of q <= 24 bits the double result (p = 53 >= 2q + 2 bits) is rounded a second time without harm:
//  - a product is exact in 53 bits;
//  - a sum, quotient or root of q-bit numbers that is not exact in 53 bits cannot lie as close to a midpoint
//  of
//    two neighbours in q or fewer bits as the first rounding's error (Figueroa: p >= 2q + 2 suffices).
//    Results in the format's subnormal range keep fewer than q bits, which leaves more room, and no double
//    here comes near a double's own range limits. An exact midpoint is exact as a double too.
// For f64 RoundToFormat only makes NaNs canonical.
double RealSqrt(double x, const FloatFormat& format) { return RoundToFormat(std::sqrt(x), format); }
double RealAdd(double x, double y, const FloatFormat& format) { return RoundToFormat(x + y, format); }
double RealSubtract(double x, double y, const FloatFormat& format) { return RoundToFormat(x - y, format); }
double RealMultiply(double x, double y, const FloatFormat& format) { return RoundToFormat(x * y, format); }
double RealDivide(double x, double y, const FloatFormat& format) { return RoundToFormat(x / y, format); }

double RealPower(double x, double y, const FloatFormat& format) { return Apply(mpfr_pow, x, y, format); }
double RealAtan2(double y, double x, const FloatFormat& format) { return Apply(mpfr_atan2, y, x, format); }

// Patterns of one sign are in the order of magnitude, so the neighbour's is one more or one less.
double RealNextAfter(double x, double y, const FloatFormat& format) {
  if (std::isnan(x) || std::isnan(y)) return CanonicalNaN(format);
  if (x == y) return y;
  if (x == 0) return std::copysign(format.min_subnormal, y);
  const bool toward_zero = (x > 0) == (y < x);
  const uint64_t magnitude = EncodeFloat(std::abs(x), format) + (toward_zero ? -1 : 1);
  return RoundToFormat(std::copysign(DecodeFloat(magnitude, format), x), format);
}

}  // namespace assay
