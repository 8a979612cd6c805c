// The inverse of erf, and the scaled Bessel function I1, correctly rounded (chlo.erf_inv, chlo.bessel_i1e).
//
// Neither is in MPFR: they are enclosed by intervals until the enclosure rounds (interval.h). At algebraic
// arguments other than 0 the values of erf, exp and I1 are transcendental (Siegel, Shidlovskii), and so are
// those of e^-x I1(x), since exp and I1 are algebraically independent; a rational y is never erf_inv of a
// rational x. So no value is representable or a midpoint, and the loops end.
#include <mpfr.h>

#include <cmath>
#include <numbers>

#include "evaluator/scalar/interval.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/real.h"
#include "literal/float_format.h"

namespace assay {
namespace {

// The inverse of erf at 0 < a < 1, by residuals of which none cancels: erf y - a below 1/2,
// (1 - a) - erfc y above.
class ErrorInverse {
 public:
  explicit ErrorInverse(double a) : a_(a), complement_(1 - a) {}  // exact where it is used, from 1/2 up

  Interval Enclose(mpfr_prec_t precision) const {
    const mpfr_prec_t p = precision + 16;
    MpfrReal y(p);
    Approximate(y, p);
    // A bracket is proved by the signs of residuals at its ends, however the approximation came about.
    for (mpfr_prec_t slack = 8;; slack += 8) {
      MpfrReal step(p), low(p), high(p);
      mpfr_mul_2si(step.get(), y.get(), slack - precision, MPFR_RNDU);
      mpfr_sub(low.get(), y.get(), step.get(), MPFR_RNDD);
      mpfr_add(high.get(), y.get(), step.get(), MPFR_RNDU);
      if (IsBelow(low, p) && IsAbove(high, p)) return Interval(low.get(), high.get(), p);
    }
  }

 private:
  bool near_one() const { return a_ > 0.5; }
  bool IsBelow(const MpfrReal& y, mpfr_prec_t p) const {  // erf y < a
    MpfrReal value(p);
    if (near_one()) {
      mpfr_erfc(value.get(), y.get(), MPFR_RNDD);
      return mpfr_cmp_d(value.get(), complement_) > 0;
    }
    mpfr_erf(value.get(), y.get(), MPFR_RNDU);
    return mpfr_cmp_d(value.get(), a_) < 0;
  }
  bool IsAbove(const MpfrReal& y, mpfr_prec_t p) const {
    MpfrReal value(p);
    if (near_one()) {
      mpfr_erfc(value.get(), y.get(), MPFR_RNDU);
      return mpfr_cmp_d(value.get(), complement_) < 0;
    }
    mpfr_erf(value.get(), y.get(), MPFR_RNDD);
    return mpfr_cmp_d(value.get(), a_) > 0;
  }

  // S. Winitzki's formula, good to three digits, then Halley's steps for erf y = a: with d = (erf y - a) /
  // erf'(y), erf'' / erf' = -2y gives y - d / (1 + y d), whose error is of the order of d^3.
  void Approximate(MpfrReal& y, mpfr_prec_t p) const {
    constexpr double kShape = 0.147;
    const double logarithm = near_one() ? std::log(complement_ * (1 + a_)) : std::log1p(-a_ * a_);
    const double half = 2 / (std::numbers::pi * kShape) + logarithm / 2;
    const double first = std::sqrt(std::sqrt(half * half - logarithm / kShape) - half);
    mpfr_set_d(y.get(), a_ < 0x1p-12 ? a_ * std::sqrt(std::numbers::pi) / 2 : first, MPFR_RNDN);
    if (a_ < 0x1p-1000) mpfr_set_d(y.get(), a_, MPFR_RNDN);  // where that product would lose bits
    MpfrReal d(p), slope(p), two_over_root(p);
    mpfr_const_pi(two_over_root.get(), MPFR_RNDN);
    mpfr_rec_sqrt(two_over_root.get(), two_over_root.get(), MPFR_RNDN);
    mpfr_mul_2ui(two_over_root.get(), two_over_root.get(), 1, MPFR_RNDN);
    for (int step = 0; step < 20; ++step) {
      if (near_one()) {
        mpfr_erfc(d.get(), y.get(), MPFR_RNDN);
        mpfr_d_sub(d.get(), complement_, d.get(), MPFR_RNDN);
      } else {
        mpfr_erf(d.get(), y.get(), MPFR_RNDN);
        mpfr_sub_d(d.get(), d.get(), a_, MPFR_RNDN);
      }
      mpfr_sqr(slope.get(), y.get(), MPFR_RNDN);
      mpfr_neg(slope.get(), slope.get(), MPFR_RNDN);
      mpfr_exp(slope.get(), slope.get(), MPFR_RNDN);
      mpfr_mul(slope.get(), slope.get(), two_over_root.get(), MPFR_RNDN);
      mpfr_div(d.get(), d.get(), slope.get(), MPFR_RNDN);
      mpfr_mul(slope.get(), y.get(), d.get(), MPFR_RNDN);
      mpfr_add_ui(slope.get(), slope.get(), 1, MPFR_RNDN);
      mpfr_div(d.get(), d.get(), slope.get(), MPFR_RNDN);
      if (mpfr_zero_p(d.get())) return;
      mpfr_sub(y.get(), y.get(), d.get(), MPFR_RNDN);
      // The next error is below 2^6 times the cube of this step, relatively.
      if (3 * (mpfr_get_exp(y.get()) - mpfr_get_exp(d.get()) - 3) > p) return;
    }
  }

  const double a_, complement_;
};

// e^-x I1(x) = e^-x sum over k of (x/2)^(2k+1) / (k! (k+1)!). Once k (k+1) > 2 (x/2)^2 the terms halve at
// least, so the last one bounds all that follow. x > 0.
Interval BesselSeries(double x, mpfr_prec_t precision) {
  const MpfrReal minus_x(-x);
  const Interval square = Interval(x, precision).Half() * Interval(x, precision).Half();
  Interval term = Interval(x, precision).Half();
  Interval sum = Interval(x, precision).Half();
  for (double k = 1;; ++k) {
    term = term * square / Interval(k * (k + 1), precision);
    sum = sum + term;
    if (2 * (k + 1) * (k + 2) > x * x && term.IsBelow(sum, precision)) break;
  }
  return Interval(mpfr_exp, minus_x.get(), precision) * (sum + term.WithZero());
}

// For large x, from the integral of e^(-x t) t^(-1/2) g(t) / (pi sqrt 2) over t in [0, 2], with g(t) =
// (1 - t) (1 - t/2)^(-1/2) = sum c_k t^k (t = 1 - cos of the angle in Bessel's integral):
//   e^-x I1(x) = (t_0 + t_1 + ... + t_(n-1) + E) / sqrt(2 pi x)
//   t_0 = 1,  t_k = t_(k-1) ((2k-1)^2 - 4) / (8 k x)
// |c_k| <= 2^(1-k), so that on [0, 1] the terms from n on are at most 2^(2-n) t^n, which integrates to
// 4 (1/2) (3/2) ... (n - 1/2) / (2x)^n beside t_0. What the terms before have beyond t = 1, where t^n <=
// e^(n (t-1)), is at most 3 e^-x / (x - n), and g over [1, 2] at most 3 e^-x;
// for n <= x/2 both are within 4 sqrt(x) e^-x.
Interval BesselAsymptotic(double x, mpfr_prec_t precision) {
  const MpfrReal argument(x), minus_x(-x);
  const Interval exact_x(x, precision);
  const Interval small =
      Interval(4, precision) * exact_x.Increasing(mpfr_sqrt) * Interval(mpfr_exp, minus_x.get(), precision);
  Interval sum(1, precision), term(1, precision), rest(4, precision);
  rest = rest / (exact_x * Interval(4, precision));
  for (double k = 1; 2 * k < x && !rest.IsBelow(sum, precision); ++k) {
    term = term * Interval((2 * k - 1) * (2 * k - 1) - 4, precision) / (Interval(8 * k, precision) * exact_x);
    sum = sum + term;
    rest = rest * Interval(2 * k + 1, precision) / (exact_x * Interval(4, precision));
  }
  sum = sum + (rest + small).AroundZero();
  const Interval circle = Interval::Pi(precision) * Interval(2, precision) * exact_x;
  return sum / circle.Increasing(mpfr_sqrt);
}

}  // namespace

double RealErfInv(double x, const FloatFormat& format) {
  const double a = std::abs(x);
  if (!(a <= 1)) return CanonicalNaN(format);
  if (a == 0) return RoundToFormat(x, format);
  if (a == 1) return RoundToFormat(std::copysign(HUGE_VAL, x), format);
  const ErrorInverse inverse(a);
  return RoundZiv([&](mpfr_prec_t p) { return inverse.Enclose(p).Signed(x < 0); }, format);
}

double RealBesselI1e(double x, const FloatFormat& format) {
  if (std::isnan(x)) return CanonicalNaN(format);
  if (x == 0) return RoundToFormat(x, format);
  if (std::isinf(x)) return RoundToFormat(std::copysign(0.0, x), format);
  const double a = std::abs(x);
  return RoundZiv(
      [&](mpfr_prec_t p) {
        const Interval value = a < static_cast<double>(p) ? BesselSeries(a, p) : BesselAsymptotic(a, p);
        return value.Signed(x < 0);
      },
      format);
}

}  // namespace assay
