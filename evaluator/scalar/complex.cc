// Complex arithmetic, roots, logarithms and powers (docs/spec/operations-elementwise.md, NUM-9). The
// exponential and trigonometric functions and their inverses are in complex_functions.cc.
//
// Each component is an exact real expression of the operands' four parts, rounded once: through exact sums
// and their ratio where it is rational; through one MPFR call on an exactly computed argument where it
// can be written so; through intervals (interval.h) or MPC otherwise.
#include "evaluator/scalar/complex.h"

#include <mpc.h>
#include <mpfr.h>

#include <cmath>
#include <limits>

#include "evaluator/scalar/complex_parts.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/interval.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/real.h"
#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

// 1 with the sign of x for infinities, else 0 with it: Annex G's "box" around an infinite operand.
double Boxed(double x) { return std::copysign(std::isinf(x) ? 1.0 : 0.0, x); }

// a c + b d, exactly.
ExactSum TwoProducts(double a, double c, double b, double d) {
  ExactSum sum;
  sum.AddProduct(a, c);
  sum.AddProduct(b, d);
  return sum;
}

// b is zero, or a and b are not both finite: the parts of the formula as they come out, and where both are
// NaN what C17's Annex G (G.5.1) recovers. Only an infinite a over a finite b other than 0 has a part
// that is not NaN before that.
// Decision: complex-divide-recovery.
Complex DivideSpecial(Complex a, Complex b, const FloatFormat& format) {
  const double x = a.real(), y = a.imag(), c = b.real(), d = b.imag();
  if (c == 0 && d == 0) {
    const double zero = std::copysign(0.0, c);
    return RoundParts(x / zero, y / zero, format);
  }
  if (HasInfinity(a) && IsFinite(b)) {
    const Complex parts(TwoProducts(x, c, y, d).Round(format), TwoProducts(y, c, -x, d).Round(format));
    if (!std::isnan(parts.real()) || !std::isnan(parts.imag())) return parts;
    const double p = Boxed(x), q = Boxed(y);
    // Halves, so that no sum overflows.
    return RoundParts(kInfinity * (p * (c / 2) + q * (d / 2)), kInfinity * (q * (c / 2) - p * (d / 2)),
                      format);
  }
  if (IsFinite(a) && HasInfinity(b)) {
    const double p = Boxed(c), q = Boxed(d);
    return RoundParts(0.0 * (x / 2 * p + y / 2 * q), 0.0 * (y / 2 * p - x / 2 * q), format);
  }
  return NaNParts(format);
}

// ln |x + iy| = log1p(x^2 + y^2 - 1) / 2, one rounding of an exact argument. Neither x nor y is NaN.
double LogAbs(mpfr_srcptr x, mpfr_srcptr y, const FloatFormat& format) {
  MpfrReal square(kExactPrecision), sum(kExactPrecision), result(kTruncatedPrecision);
  mpfr_sqr(square.get(), x, MPFR_RNDN);
  mpfr_sqr(sum.get(), y, MPFR_RNDN);
  mpfr_add(sum.get(), sum.get(), square.get(), MPFR_RNDN);
  mpfr_sub_ui(sum.get(), sum.get(), 1, MPFR_RNDN);
  const int ternary = mpfr_log1p(result.get(), sum.get(), MPFR_RNDZ);
  mpfr_div_2ui(result.get(), result.get(), 1, MPFR_RNDZ);
  return RoundMpfr(result.get(), ternary, format);
}

double RoundAtan2(mpfr_srcptr y, mpfr_srcptr x, const FloatFormat& format) {
  MpfrReal result(kTruncatedPrecision);
  const int ternary = mpfr_atan2(result.get(), y, x, MPFR_RNDZ);
  return RoundMpfr(result.get(), ternary, format);
}

// log(x + iy) of exact parts.
Complex LogOfParts(mpfr_srcptr x, mpfr_srcptr y, const FloatFormat& format) {
  double re;
  if (mpfr_inf_p(x) || mpfr_inf_p(y)) {
    re = kInfinity;
  } else {
    re = mpfr_nan_p(x) || mpfr_nan_p(y) ? CanonicalNaN(format) : LogAbs(x, y, format);
  }
  return {re, RoundAtan2(y, x, format)};
}

}  // namespace

double ComplexAbs(Complex z, const FloatFormat& format) {
  const MpfrReal x(z.real()), y(z.imag());
  MpfrReal result(kTruncatedPrecision);
  const int ternary = mpfr_hypot(result.get(), x.get(), y.get(), MPFR_RNDZ);
  return RoundMpfr(result.get(), ternary, format);
}

// part / |z|. With both parts nonzero it is never a dyadic number (a reduced Pythagorean hypotenuse is odd
// and above 1; otherwise |z| is irrational), so it is neither representable nor a midpoint.
Complex ComplexSign(Complex z, const FloatFormat& format) {
  const double x = z.real(), y = z.imag();
  if (HasNaN(z)) return NaNParts(format);
  if (x == 0 && y == 0) return RoundParts(0.0, 0.0, format);
  if (HasInfinity(z) || x == 0 || y == 0) {
    const double size = std::max(std::abs(x), std::abs(y));
    return RoundParts(x / size, y / size, format);
  }
  const MpfrReal re(x), im(y);
  const auto component = [&](double part) {
    return RoundZiv(
        [&](mpfr_prec_t p) { return Interval(part, p) / Interval(mpfr_hypot, re.get(), im.get(), p); },
        format);
  };
  return {component(x), component(y)};
}

Complex ComplexNegate(Complex z, const FloatFormat& format) {
  return RoundParts(-z.real(), -z.imag(), format);
}

// re = ac - bd, im = ad + bc. Decision: complex-multiply-no-recovery. Infinities and NaNs follow from the two
// products as in real arithmetic.
Complex ComplexMultiply(Complex a, Complex b, const FloatFormat& format) {
  return {TwoProducts(a.real(), b.real(), -a.imag(), b.imag()).Round(format),
          TwoProducts(a.real(), b.imag(), a.imag(), b.real()).Round(format)};
}

// With b = c + id: re = (a.re c + a.im d) / (c^2 + d^2), im = (a.im c - a.re d) / (c^2 + d^2).
Complex ComplexDivide(Complex a, Complex b, const FloatFormat& format) {
  if (!IsFinite(a) || !IsFinite(b) || b == 0.0) return DivideSpecial(a, b, format);
  const double x = a.real(), y = a.imag(), c = b.real(), d = b.imag();
  const ExactSum norm = TwoProducts(c, c, d, d);
  return {RoundRatio(TwoProducts(x, c, y, d), norm, format),
          RoundRatio(TwoProducts(y, c, -x, d), norm, format)};
}

Complex ComplexSqrt(Complex z, const FloatFormat& format) { return ApplyMpc(mpc_sqrt, z, format); }

// 1/sqrt(z) = conj(sqrt(z)) / |z|. With h = |z| and t = sqrt((h + |x|) / 2), the larger component is t / h
// and the smaller one |y| / (2 h t); x < 0 exchanges them. On the axes one MPFR call decides: x > 0 gives
// (1/sqrt(x), 0), x < 0 gives (0, 1/sqrt(-x)), x = 0 gives both 1/sqrt(2|y|). Elsewhere no component is
// dyadic: w = 1/sqrt(z) with one dyadic component has w = 2^k / v for a Gaussian integer v, whose norm's odd
// part would have to divide that component of v, which leaves only the axes and diagonals of w. Decision:
// complex-rsqrt-infinite.
Complex ComplexRsqrt(Complex z, const FloatFormat& format) {
  const double x = z.real(), y = z.imag();
  if (HasInfinity(z)) return RoundParts(0.0, std::isnan(y) ? 0.0 : std::copysign(0.0, -y), format);
  if (HasNaN(z)) return NaNParts(format);
  if (x == 0 && y == 0) return RoundParts(kInfinity, CanonicalNaN(format), format);
  const double side = std::signbit(y) ? 1.0 : -1.0;
  if (y == 0) {
    const double root = RealRsqrt(std::abs(x), format);
    return x > 0 ? RoundParts(root, std::copysign(0.0, side), format) : RoundParts(0.0, side * root, format);
  }
  if (x == 0) {
    MpfrReal twice(std::abs(y)), result(kTruncatedPrecision);
    mpfr_mul_2ui(twice.get(), twice.get(), 1, MPFR_RNDN);
    const int ternary = mpfr_rec_sqrt(result.get(), twice.get(), MPFR_RNDZ);
    const double part = RoundMpfr(result.get(), ternary, format);
    return {part, side * part};
  }
  const MpfrReal re(std::abs(x)), im(std::abs(y));
  const auto hypot = [&](mpfr_prec_t p) { return Interval(mpfr_hypot, re.get(), im.get(), p); };
  const auto root = [&](mpfr_prec_t p) {
    return (hypot(p) + Interval(std::abs(x), p)).Half().Increasing(mpfr_sqrt);
  };
  const double larger = RoundZiv([&](mpfr_prec_t p) { return root(p) / hypot(p); }, format);
  const double smaller =
      RoundZiv([&](mpfr_prec_t p) { return Interval(std::abs(y), p).Half() / (hypot(p) * root(p)); }, format);
  return x > 0 ? Complex(larger, side * smaller) : Complex(smaller, side * larger);
}

Complex ComplexLog(Complex z, const FloatFormat& format) {
  const MpfrReal x(z.real()), y(z.imag());
  return LogOfParts(x.get(), y.get(), format);
}

Complex ComplexLog1p(Complex z, const FloatFormat& format) {
  const MpfrReal x(z.real()), y(z.imag());
  if (z == 0.0) return RoundParts(z.real(), z.imag(), format);
  MpfrReal sum(kExactPrecision);
  mpfr_add_ui(sum.get(), x.get(), 1, MPFR_RNDN);
  return LogOfParts(sum.get(), y.get(), format);
}

namespace {

// exp(w log z) where an operand is not finite, as composed of the operations' own special values.
Complex PowerSpecial(Complex z, Complex w, const FloatFormat& format) {
  const FloatFormat& f64 = *Info(ElementType::kF64).format;
  return ComplexExp(ComplexMultiply(w, ComplexLog(z, f64), f64), format);
}

}  // namespace

// z^w. Decision: complex-power-specials.
Complex ComplexPower(Complex z, Complex w, const FloatFormat& format) {
  if (w == 0.0) return RoundParts(1.0, 0.0, format);
  if (z == 1.0) return RoundParts(1.0, 0.0, format);
  if (z == 0.0) return w.real() > 0 ? RoundParts(0.0, 0.0, format) : NaNParts(format);
  if (z.real() == kInfinity && z.imag() == 0 && IsFinite(w) && w.imag() == 0) {
    return RoundParts(w.real() > 0 ? kInfinity : 0.0, 0.0, format);
  }
  if (!IsFinite(z) || !IsFinite(w)) return PowerSpecial(z, w, format);
  return ApplyMpc(mpc_pow, z, w, format);
}

namespace {

// The exact complex numbers of ComplexAtan2: u = x + iy, v = x - iy (x and y complex), u v and u conj(v).
struct ExactComplex {
  MpfrReal re{kExactPrecision}, im{kExactPrecision};
};

void Set(ExactComplex& result, double a, double b, double c, double d) {
  mpfr_set_d(result.re.get(), a, MPFR_RNDN);
  mpfr_add_d(result.re.get(), result.re.get(), b, MPFR_RNDN);
  mpfr_set_d(result.im.get(), c, MPFR_RNDN);
  mpfr_add_d(result.im.get(), result.im.get(), d, MPFR_RNDN);
}

void SetProduct(ExactComplex& result, const ExactComplex& u, const ExactComplex& v, bool conjugate) {
  const auto combine = conjugate ? mpfr_fmma : mpfr_fmms;
  combine(result.re.get(), u.re.get(), v.re.get(), u.im.get(), v.im.get(), MPFR_RNDN);
  const auto cross = conjugate ? mpfr_fmms : mpfr_fmma;
  cross(result.im.get(), u.im.get(), v.re.get(), u.re.get(), v.im.get(), MPFR_RNDN);
}

// |z|^2
void SetNorm(MpfrReal& result, const ExactComplex& z) {
  mpfr_fmma(result.get(), z.re.get(), z.re.get(), z.im.get(), z.im.get(), MPFR_RNDN);
}

// How many half turns must be added to arg(P) / 2 to reach arg(u) - arg(Q) / 2, of which it differs by a
// multiple of pi exactly; brought into [-pi, pi].
int HalfTurns(const ExactComplex& u, const ExactComplex& product, const ExactComplex& ratio) {
  const auto angle = [](const ExactComplex& z) {
    MpfrReal result(kDoublePrecision);
    mpfr_atan2(result.get(), z.im.get(), z.re.get(), MPFR_RNDN);
    return mpfr_get_d(result.get(), MPFR_RNDN);
  };
  const double half = angle(ratio) / 2;
  const double target = angle(u) - angle(product) / 2;
  int turns = static_cast<int>(std::lround((target - half) / M_PI));
  const int side = mpfr_sgn(ratio.im.get());  // of arg(P), which may be too small for a double
  if (turns > 0 && (side > 0 || turns > 1)) return turns - 2;
  if (turns < 0 && (side < 0 || turns < -1)) return turns + 2;
  return turns;
}

}  // namespace

// atan2(y, x) = -i log(u / S) with u = x + iy, v = x - iy, S = sqrt(uv) = sqrt(x^2 + y^2):
// im = -ln|u/S| = ln(|v|^2 / |u|^2) / 4; re = arg(u/S), half the angle of P = u conj(v) up to a half turn.
// u, v and their products are exact. Angles of algebraic numbers and logarithms of rationals are 0 (decided
// exactly) or transcendental. Decision: complex-atan2.
Complex ComplexAtan2(Complex y, Complex x, const FloatFormat& format) {
  const bool real = x.imag() == 0 && y.imag() == 0;
  if ((x == 0.0 && y == 0.0) || HasNaN(x) || HasNaN(y)) return NaNParts(format);
  if (real) return {RealAtan2(y.real(), x.real(), format), 0.0};
  if (!IsFinite(x) || !IsFinite(y)) return NaNParts(format);
  ExactComplex u, v, product, ratio;
  Set(u, x.real(), -y.imag(), x.imag(), y.real());
  Set(v, x.real(), y.imag(), x.imag(), -y.real());
  SetProduct(product, u, v, false);
  SetProduct(ratio, u, v, true);
  MpfrReal u_norm(kExactPrecision), v_norm(kExactPrecision);
  SetNorm(u_norm, u);
  SetNorm(v_norm, v);
  if (mpfr_zero_p(u_norm.get())) return NaNParts(format);
  if (mpfr_zero_p(v_norm.get())) return RoundParts(CanonicalNaN(format), -kInfinity, format);

  const int turns = HalfTurns(u, product, ratio);
  double re;
  if (turns == 0) {
    MpfrReal angle(kTruncatedPrecision);
    const int ternary = mpfr_atan2(angle.get(), ratio.im.get(), ratio.re.get(), MPFR_RNDZ);
    mpfr_div_2ui(angle.get(), angle.get(), 1, MPFR_RNDZ);
    re = RoundMpfr(angle.get(), ternary, format);
  } else {
    re = RoundZiv(
        [&](mpfr_prec_t p) {
          return Interval(mpfr_atan2, ratio.im.get(), ratio.re.get(), p).Half() +
                 Interval::Pi(p) * Interval(turns, p);
        },
        format);
  }
  if (mpfr_equal_p(u_norm.get(), v_norm.get())) return RoundParts(re, 0.0, format);
  const double im = RoundZiv(
      [&](mpfr_prec_t p) {
        // log1p((|v|^2 - |u|^2) / |u|^2) / 4
        const Interval difference(mpfr_sub, v_norm.get(), u_norm.get(), p);
        const Interval norm(mpfr_set, u_norm.get(), p);
        return (difference / norm).Increasing(mpfr_log1p).Half().Half();
      },
      format);
  return {re, im};
}

}  // namespace assay
