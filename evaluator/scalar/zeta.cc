// Hurwitz's zeta function and the polygamma functions, correctly rounded (chlo.zeta, chlo.polygamma).
//
// For q > 0, zeta(s, q) = sum over k of (q + k)^-s: terms one by one until q + k is large enough for the
// Euler-Maclaurin formula, or until what is left is too small to matter. x^-s and all its derivatives keep
// their signs, so the formula's remainder has the sign of the first term left out and is smaller. All in
// intervals (interval.h), until they round. polygamma(n, x) = (-1)^(n+1) n! zeta(n + 1, x).
//
// For q < 0, where s is whole, the sum over all integers has period 1: with f = q - floor q,
//   zeta(s, q) = zeta(s, f) + (-1)^s (zeta(s, 1 - f) - zeta(s, 1 - q)).
//
// No value is known to be representable or a midpoint but where a first term that is (1/q^s of powers of two)
// is joined by a rest that more bits show.
#include <mpfr.h>

#include <cmath>

#include "absl/functional/function_ref.h"
#include "evaluator/scalar/interval.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/real.h"
#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

// Holds 1 + x, 1 - x and x - floor x for any double x exactly.
constexpr mpfr_prec_t kShiftedPrecision = 1100;
// Binary logarithms are in units of 2^64, in which those of s! and q^s are doubles for every double s and q.
constexpr double kLogarithmUnit = 0x1p-64;
// Results whose logarithm lies beyond this overflow or underflow in every format,
// with room for its own error.
constexpr double kFarLogarithm = 4200 * kLogarithmUnit;
// Up to here n! and n! a^-n are within MPFR's exponents, whatever double a is,
// and the factorial is soon multiplied out.
constexpr double kLargestFactorial = 1 << 12;

// The function w a^-s of a > 0, w a constant.
using PowerFn = absl::FunctionRef<Interval(const Interval& a, mpfr_prec_t precision)>;

// a^-s
Interval NegativePower(const Interval& a, mpfr_srcptr minus_s, mpfr_prec_t precision) {
  MpfrReal low(precision), high(precision);
  mpfr_pow(low.get(), a.high(), minus_s, MPFR_RNDD);
  mpfr_pow(high.get(), a.low(), minus_s, MPFR_RNDU);
  return Interval(low.get(), high.get(), precision);
}

Interval Whole(double x, mpfr_prec_t precision) { return Interval(x, precision); }

// The terms of the Euler-Maclaurin formula at `a` behind the integral: w a^-s (a / (s - 1)
// + 1/2 + sum over j >= 1 of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) / a^(2j - 1)), where B_2j / (2j)! =
// (-1)^(j+1) 2 zeta(2j) / (2 pi)^(2j).
Interval EulerMaclaurin(mpfr_srcptr s, const Interval& a, const Interval& power, mpfr_prec_t p) {
  const Interval order(mpfr_set, s, p);
  Interval sum = a / (order - Whole(1, p)) + Whole(0.5, p);
  const Interval circle = Interval::Pi(p) * Whole(2, p);
  const Interval circle_squared = circle * circle, a_squared = a * a;
  Interval factor = Whole(2, p) * order / (a * circle_squared);
  for (unsigned long j = 1;; ++j) {
    MpfrReal low(p), high(p);
    mpfr_zeta_ui(low.get(), 2 * j, MPFR_RNDD);
    mpfr_zeta_ui(high.get(), 2 * j, MPFR_RNDU);
    const Interval term = factor * Interval(low.get(), high.get(), p);
    const Interval signed_term = term.Signed(j % 2 == 0);
    const auto n = static_cast<double>(2 * j);
    Interval next = factor * (order + Whole(n - 1, p)) * (order + Whole(n, p)) / (a_squared * circle_squared);
    if (term.IsBelow(sum, p) || mpfr_cmp(next.high(), factor.high()) >= 0)
      return power * (sum + signed_term.WithZero());
    sum = sum + signed_term;
    factor = std::move(next);
  }
}

// w times the sum over k of (q + k)^-s, q > 0, s > 1.
Interval HurwitzSum(mpfr_srcptr s, mpfr_srcptr q, PowerFn power, mpfr_prec_t p) {
  const double start = mpfr_get_d(s, MPFR_RNDU) / 2 + static_cast<double>(p) / 4 + 8;
  Interval less_one = Interval(mpfr_set, s, p) - Whole(1, p);
  Interval sum = Whole(0, p), a(mpfr_set, q, p);
  for (unsigned long k = 0; mpfr_cmp_d(a.low(), start) < 0; ++k) {
    const Interval term = power(a, p);
    sum = sum + term;
    // Behind this term the sum is at most the integral of x^-s from a on.
    const Interval rest = term * a / less_one;
    if (rest.IsBelow(sum, p)) return sum + rest.WithZero();
    // With enough bits for q + k the terms reach that, or `start`, by then.
    if (k > 8 * static_cast<unsigned long>(p) + 64) return Interval(std::nan(""), p);
    MpfrReal low(p), high(p);
    mpfr_add_ui(low.get(), q, k + 1, MPFR_RNDD);
    mpfr_add_ui(high.get(), q, k + 1, MPFR_RNDU);
    a = Interval(low.get(), high.get(), p);
  }
  return sum + EulerMaclaurin(s, a, power(a, p), p);
}

// The function v w zeta(s, q) of q, with a sign. `power` gives w a^-s, `factor` v;
// `log_weight` is the binary logarithm of v w.
struct Weighted {
  mpfr_srcptr s;
  PowerFn power;
  absl::FunctionRef<Interval(mpfr_prec_t)> factor;
  double log_weight;
  bool negative;
};

double RoundFar(bool overflows, bool negative, const FloatFormat& format) {
  if (!overflows) return RoundTiny(negative, format);
  return RoundTruncated({.negative = negative, .mantissa = uint64_t{1} << 63, .exponent = 4000}, format);
}

// q > 0. The sum lies between its first term and 1 + q / (s - 1) times that.
double RoundPositive(const Weighted& sum, mpfr_srcptr q, const FloatFormat& format) {
  const double s = mpfr_get_d(sum.s, MPFR_RNDN), at = mpfr_get_d(q, MPFR_RNDN);
  const double power = s * kLogarithmUnit * std::log2(at);
  const double low = sum.log_weight - power, high = low + kLogarithmUnit * std::log2(1 + at / (s - 1));
  const double far = kFarLogarithm + 0x1p-46 * (std::abs(power) + std::abs(sum.log_weight));
  if (low > far) return RoundFar(true, sum.negative, format);
  if (high < -far) return RoundFar(false, sum.negative, format);
  return RoundZiv(
      [&](mpfr_prec_t p) {
        return (sum.factor(p) * HurwitzSum(sum.s, q, sum.power, p)).Signed(sum.negative);
      },
      format);
}

// q < 0 and not whole, s whole.
double RoundNegative(const Weighted& sum, double q, bool s_is_odd, const FloatFormat& format) {
  MpfrReal above(kShiftedPrecision), below(kShiftedPrecision), mirrored(kShiftedPrecision);
  const MpfrReal exact_q(q);
  mpfr_sub_d(above.get(), exact_q.get(), std::floor(q), MPFR_RNDN);
  mpfr_ui_sub(below.get(), 1, above.get(), MPFR_RNDN);
  mpfr_ui_sub(mirrored.get(), 1, exact_q.get(), MPFR_RNDN);
  // Half way between two poles of odd order the sums to both sides are equal.
  if (s_is_odd && mpfr_equal_p(above.get(), below.get())) return RoundPositive(sum, mirrored.get(), format);
  const bool above_is_near = mpfr_less_p(above.get(), below.get()) != 0;
  const double near = mpfr_get_d(above_is_near ? above.get() : below.get(), MPFR_RNDN);
  // The distances to both poles differ by 2^-52 at least, so no more than 64 bits of
  // the nearer one's term cancel.
  if (sum.log_weight - mpfr_get_d(sum.s, MPFR_RNDN) * kLogarithmUnit * std::log2(near) > kFarLogarithm)
    return RoundFar(true, sum.negative != (s_is_odd && !above_is_near), format);
  return RoundZiv(
      [&](mpfr_prec_t p) {
        const Interval far_side =
            HurwitzSum(sum.s, below.get(), sum.power, p) - HurwitzSum(sum.s, mirrored.get(), sum.power, p);
        const Interval value = HurwitzSum(sum.s, above.get(), sum.power, p) + far_side.Signed(s_is_odd);
        return (sum.factor(p) * value).Signed(sum.negative);
      },
      format);
}

bool IsWhole(double x) { return std::isfinite(x) && x == std::floor(x); }
bool IsOdd(double x) { return std::fmod(x, 2) != 0; }

}  // namespace

// Decision: zeta-specials
double RealZeta(double s, double q, const FloatFormat& format) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return CanonicalNaN(format);
  if (s == 1) return RoundToFormat(HUGE_VAL, format);
  if (q <= 0 && !IsWhole(s)) return CanonicalNaN(format);
  if (q <= 0 && IsWhole(q)) return IsOdd(s) ? CanonicalNaN(format) : RoundToFormat(HUGE_VAL, format);
  if (std::isinf(q)) return q > 0 ? RoundToFormat(0.0, format) : CanonicalNaN(format);
  if (std::isinf(s)) return RoundToFormat(q < 1 ? HUGE_VAL : q == 1 ? 1.0 : 0.0, format);
  const MpfrReal order(s), minus_order(-s), position(q);
  const auto power = [&](const Interval& a, mpfr_prec_t p) { return NegativePower(a, minus_order.get(), p); };
  const auto one = [](mpfr_prec_t p) { return Whole(1, p); };
  const Weighted sum{order.get(), power, one, 0, false};
  return q > 0 ? RoundPositive(sum, position.get(), format) : RoundNegative(sum, q, IsOdd(s), format);
}

// Decision: zeta-specials
double RealPolygamma(double n, double x, const FloatFormat& format) {
  if (std::isnan(x) || !IsWhole(n) || n < 0) return CanonicalNaN(format);
  if (n == 0) return RealDigamma(x, format);
  const bool negative = !IsOdd(n);
  if (x <= 0 && (std::isinf(x) || IsWhole(x))) {
    return negative || std::isinf(x) ? CanonicalNaN(format) : RoundToFormat(HUGE_VAL, format);
  }
  if (std::isinf(x)) return RoundToFormat(negative ? -0.0 : 0.0, format);
  MpfrReal order(kShiftedPrecision), minus_order(kShiftedPrecision), logarithm(kTruncatedPrecision);
  const MpfrReal position(x);
  mpfr_set_d(order.get(), n, MPFR_RNDN);
  mpfr_add_ui(order.get(), order.get(), 1, MPFR_RNDN);
  mpfr_neg(minus_order.get(), order.get(), MPFR_RNDN);
  mpfr_lngamma(logarithm.get(), order.get(), MPFR_RNDN);
  mpfr_div_2ui(logarithm.get(), logarithm.get(), 64, MPFR_RNDN);
  const double log_weight = mpfr_get_d(logarithm.get(), MPFR_RNDN) / std::log(2);
  const bool is_small = n <= kLargestFactorial;
  const auto power = [&](const Interval& a, mpfr_prec_t p) {
    if (is_small) return NegativePower(a, minus_order.get(), p);
    const Interval exponent =
        Interval(mpfr_lngamma, order.get(), p) - Interval(mpfr_set, order.get(), p) * a.Increasing(mpfr_log);
    return exponent.Increasing(mpfr_exp);  // n! a^-s, where only the product is within MPFR's exponents
  };
  const auto factorial = [&](mpfr_prec_t p) {
    MpfrReal low(p), high(p);
    mpfr_fac_ui(low.get(), is_small ? static_cast<unsigned long>(n) : 0, MPFR_RNDD);
    mpfr_fac_ui(high.get(), is_small ? static_cast<unsigned long>(n) : 0, MPFR_RNDU);
    return Interval(low.get(), high.get(), p);
  };
  const Weighted sum{order.get(), power, factorial, log_weight, negative};
  return x > 0 ? RoundPositive(sum, position.get(), format) : RoundNegative(sum, x, !IsOdd(n), format);
}

}  // namespace assay
