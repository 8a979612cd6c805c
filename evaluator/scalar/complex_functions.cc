// Complex exponentials, trigonometric and hyperbolic functions and their inverses, each component rounded
// once (docs/spec/operations-elementwise.md, "Complex definitions"). Logarithms, roots and powers are in
// complex.cc.
//
// Finite operands: each component is a real formula of x and y without poles, enclosed by intervals until it
// rounds (interval.h). The cases in which a component is zero or a function of one real variable come first:
// x = 0, y = 0, and |x| <= 1 for the inverses. In all others the component is transcendental
// (Lindemann-Weierstrass), so it is neither representable nor a midpoint and the loop ends. Operands that are
// not finite follow C17 Annex G, through MPC or spelled out.
#include <mpc.h>
#include <mpfr.h>

#include <cmath>
#include <limits>

#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/complex_parts.h"
#include "evaluator/scalar/interval.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/real.h"
#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

// Beyond this e^-|x| is below half the square of every format's smallest number.
constexpr double kFar = 5000;
// Holds 1 + x for any double x exactly.
constexpr mpfr_prec_t kNeighborPrecision = 1100;

// RN_F(f(x) g(y)), where a factor is exactly zero only for a zero argument.
double Product(MpfrFn1 f, double x, MpfrFn1 g, double y, const FloatFormat& format) {
  const MpfrReal first(x), second(y);
  MpfrReal a(kDoublePrecision), b(kDoublePrecision);
  f(a.get(), first.get(), MPFR_RNDZ);
  g(b.get(), second.get(), MPFR_RNDZ);
  if ((x == 0 && mpfr_zero_p(a.get())) || (y == 0 && mpfr_zero_p(b.get()))) {
    const bool negative = mpfr_signbit(a.get()) != mpfr_signbit(b.get());
    return RoundToFormat(negative ? -0.0 : 0.0, format);
  }
  // cos 0 = cosh 0 = e^0 = 1: a function of one variable.
  const auto is_one = [](mpfr_srcptr value) { return mpfr_cmp_ui(value, 1) == 0; };
  MpfrReal result(kTruncatedPrecision);
  if (x == 0 && is_one(a.get())) {
    const int ternary = g(result.get(), second.get(), MPFR_RNDZ);
    return RoundMpfr(result.get(), ternary, format);
  }
  if (y == 0 && is_one(b.get())) {
    const int ternary = f(result.get(), first.get(), MPFR_RNDZ);
    return RoundMpfr(result.get(), ternary, format);
  }
  return RoundZiv([&](mpfr_prec_t p) { return Interval(f, first.get(), p) * Interval(g, second.get(), p); },
                  format);
}

Interval Square(const Interval& a) { return a * a; }

// tan(t + ih) = (sin t cos t + i sinh h cosh h) / (cos^2 t + sinh^2 h); the denominator is positive and
// nothing cancels in it. t, h finite.
Complex TanParts(double t, double h, const FloatFormat& format) {
  if (t == 0) return RoundParts(t, RealTanh(h, format), format);
  if (h == 0) return RoundParts(RealTan(t, format), h, format);
  if (std::abs(h) > kFar) {
    // sin 2t 2 e^-2|h| and 1 but for a part as small.
    const FloatFormat& f64 = *Info(ElementType::kF64).format;
    const bool negative = std::signbit(RealSin(t, f64)) != std::signbit(RealCos(t, f64));
    return {RoundTiny(negative, format), std::copysign(1.0, h)};
  }
  const MpfrReal angle(t), height(h);
  const auto fraction = [&](MpfrFn1 f, MpfrFn1 g, mpfr_srcptr argument, mpfr_prec_t p) {
    return Interval(f, argument, p) * Interval(g, argument, p) /
           (Square(Interval(mpfr_cos, angle.get(), p)) + Square(Interval(mpfr_sinh, height.get(), p)));
  };
  return {RoundZiv([&](mpfr_prec_t p) { return fraction(mpfr_sin, mpfr_cos, angle.get(), p); }, format),
          RoundZiv([&](mpfr_prec_t p) { return fraction(mpfr_sinh, mpfr_cosh, height.get(), p); }, format)};
}

}  // namespace

// e^x cos y + i e^x sin y
Complex ComplexExp(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_exp, z, format);
  const double x = z.real(), y = z.imag();
  return {Product(mpfr_exp, x, mpfr_cos, y, format), Product(mpfr_exp, x, mpfr_sin, y, format)};
}

// re = e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y/2), im = e^x sin y
Complex ComplexExpm1(Complex z, const FloatFormat& format) {
  const double x = z.real(), y = z.imag();
  if (!IsFinite(z)) {
    const Complex power = ApplyMpc(mpc_exp, z, format);
    return RoundParts(power.real() - 1, power.imag(), format);
  }
  const double im = Product(mpfr_exp, x, mpfr_sin, y, format);
  if (y == 0) return {RealExpm1(x, format), im};
  const MpfrReal re(x), angle(y);
  MpfrReal half(y);
  mpfr_div_2ui(half.get(), half.get(), 1, MPFR_RNDN);
  const auto enclose = [&](mpfr_prec_t p) {
    Interval rest = Square(Interval(mpfr_sin, half.get(), p)) * Interval(-2.0, p);
    if (x == 0) return rest;
    return Interval(mpfr_expm1, re.get(), p) * Interval(mpfr_cos, angle.get(), p) + rest;
  };
  return {RoundZiv(enclose, format), im};
}

// 1 / (1 + e^-z): re = (e^x + cos y) / 2D, im = sin y / 2D, D = cosh x + cos y = 2 (sinh^2(x/2) +
// cos^2(y/2)). Decision: complex-logistic-specials.
Complex ComplexLogistic(Complex z, const FloatFormat& format) {
  const double x = z.real(), y = z.imag();
  if (HasNaN(z) ? !std::isinf(x) : std::isinf(y) && !std::isinf(x)) return NaNParts(format);
  const FloatFormat& f64 = *Info(ElementType::kF64).format;
  const bool known = std::isfinite(y);
  const bool sine_negative = known && std::signbit(RealSin(y, f64));
  const bool cosine_negative = known && std::signbit(RealCos(y, f64));
  if (std::isinf(x)) {
    const double im = sine_negative ? -0.0 : 0.0;
    return RoundParts(x > 0 ? 1.0 : (cosine_negative ? -0.0 : 0.0), im, format);
  }
  if (y == 0) return {RealLogistic(x, format), RoundToFormat(y, format)};
  if (std::abs(x) > kFar) {
    return {x > 0 ? 1.0 : RoundTiny(cosine_negative, format), RoundTiny(sine_negative, format)};
  }
  MpfrReal half_x(x), half_y(y);
  mpfr_div_2ui(half_x.get(), half_x.get(), 1, MPFR_RNDN);
  mpfr_div_2ui(half_y.get(), half_y.get(), 1, MPFR_RNDN);
  const MpfrReal re(x), im(y);
  // 4 (sinh^2(x/2) + cos^2(y/2)) = 2D
  const auto denominator = [&](mpfr_prec_t p) {
    return (Square(Interval(mpfr_sinh, half_x.get(), p)) + Square(Interval(mpfr_cos, half_y.get(), p))) *
           Interval(4.0, p);
  };
  const auto re_parts = [&](mpfr_prec_t p) {
    return (Interval(mpfr_exp, re.get(), p) + Interval(mpfr_cos, im.get(), p)) / denominator(p);
  };
  const auto im_parts = [&](mpfr_prec_t p) { return Interval(mpfr_sin, im.get(), p) / denominator(p); };
  return {x == 0 ? RoundToFormat(0.5, format) : RoundZiv(re_parts, format), RoundZiv(im_parts, format)};
}

// sin x cosh y + i cos x sinh y
Complex ComplexSin(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_sin, z, format);
  const double x = z.real(), y = z.imag();
  return {Product(mpfr_sin, x, mpfr_cosh, y, format), Product(mpfr_cos, x, mpfr_sinh, y, format)};
}

// cos x cosh y - i sin x sinh y. Decision: complex-unspecified-signs.
Complex ComplexCos(Complex z, const FloatFormat& format) {
  if (std::isinf(z.real()) && std::isinf(z.imag()))
    return RoundParts(kInfinity, CanonicalNaN(format), format);
  if (!IsFinite(z)) return ApplyMpc(mpc_cos, z, format);
  const double x = z.real(), y = z.imag();
  return {Product(mpfr_cos, x, mpfr_cosh, y, format), Product(mpfr_sin, -x, mpfr_sinh, y, format)};
}

// tan z = -i tanh(iz), its special values included.
Complex ComplexTan(Complex z, const FloatFormat& format) {
  if (z.imag() == 0 && !IsFinite(z)) return RoundParts(CanonicalNaN(format), z.imag(), format);
  if (!IsFinite(z)) return ApplyMpc(mpc_tan, z, format);
  return TanParts(z.real(), z.imag(), format);
}

// sinh x cos y + i cosh x sin y
Complex ComplexSinh(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_sinh, z, format);
  const double x = z.real(), y = z.imag();
  return {Product(mpfr_sinh, x, mpfr_cos, y, format), Product(mpfr_cosh, x, mpfr_sin, y, format)};
}

// cosh x cos y + i sinh x sin y. Decision: complex-unspecified-signs.
Complex ComplexCosh(Complex z, const FloatFormat& format) {
  if (std::isinf(z.real()) && std::isinf(z.imag()))
    return RoundParts(kInfinity, CanonicalNaN(format), format);
  if (!IsFinite(z)) return ApplyMpc(mpc_cosh, z, format);
  const double x = z.real(), y = z.imag();
  return {Product(mpfr_cosh, x, mpfr_cos, y, format), Product(mpfr_sinh, x, mpfr_sin, y, format)};
}

// tanh z = -i tan(iz): with tan(y + ix) = p + iq it is q + ip. On the imaginary axis the real part is a zero
// whatever the imaginary one is (C17, defect report 471); MPC has the values of before that report.
Complex ComplexTanh(Complex z, const FloatFormat& format) {
  if (z.real() == 0 && !IsFinite(z)) return RoundParts(z.real(), CanonicalNaN(format), format);
  if (!IsFinite(z)) return ApplyMpc(mpc_tanh, z, format);
  const Complex swapped = TanParts(z.imag(), z.real(), format);
  return {swapped.imag(), swapped.real()};
}

namespace {

// For x, y >= 0, not both on the segment: a = (|z + 1| + |z - 1|) / 2 >= 1 is the half axis of the ellipse
// through z with foci +-1, and x/a the cosine of its hyperbola's angle. asin z = asin(x/a) + i acosh(a).
class Ellipse {
 public:
  Ellipse(double x, double y) : x_(x), im_(y), right_(kNeighborPrecision), left_(kNeighborPrecision) {
    const MpfrReal re(x);
    mpfr_add_ui(right_.get(), re.get(), 1, MPFR_RNDN);
    mpfr_sub_ui(left_.get(), re.get(), 1, MPFR_RNDN);
  }
  Interval HalfAxis(mpfr_prec_t p) const {
    return (Interval(mpfr_hypot, right_.get(), im_.get(), p) +
            Interval(mpfr_hypot, left_.get(), im_.get(), p))
        .Half()
        .Clamped(1, kInfinity);
  }
  Interval Cosine(mpfr_prec_t p) const { return (Interval(x_, p) / HalfAxis(p)).Clamped(-1, 1); }

 private:
  double x_;
  MpfrReal im_, right_, left_;
};

// acosh of the half axis: |im asin z| = |im acos z| = re acosh z.
double EllipseHeight(double x, double y, const FloatFormat& format) {
  x = std::abs(x);
  y = std::abs(y);
  if (x == 0) return RealAsinh(y, format);
  if (y == 0) return x > 1 ? RealAcosh(x, format) : RoundToFormat(0.0, format);
  const Ellipse ellipse(x, y);
  return RoundZiv([&](mpfr_prec_t p) { return ellipse.HalfAxis(p).Increasing(mpfr_acosh); }, format);
}

// re asin z, odd in x.
double EllipseSine(double x, double y, const FloatFormat& format) {
  if (x == 0) return RoundToFormat(x, format);
  if (y == 0) return RealAsin(std::copysign(std::min(std::abs(x), 1.0), x), format);
  const Ellipse ellipse(std::abs(x), std::abs(y));
  const double angle =
      RoundZiv([&](mpfr_prec_t p) { return ellipse.Cosine(p).Increasing(mpfr_asin); }, format);
  return std::copysign(angle, x);
}

// re acos z = |im acosh z|
double EllipseCosine(double x, double y, const FloatFormat& format) {
  if (x == 0) return RealAcos(0, format);
  if (y == 0) return RealAcos(std::copysign(std::min(std::abs(x), 1.0), x), format);
  const Ellipse ellipse(std::abs(x), std::abs(y));
  return RoundZiv(
      [&](mpfr_prec_t p) {
        const Interval cosine = ellipse.Cosine(p);
        return (x > 0 ? cosine.Clamped(-1, 1) : cosine.Negated()).Decreasing(mpfr_acos);
      },
      format);
}

}  // namespace

// Branch cuts (-inf, -1], [1, inf): the sign of a zero imaginary part picks the side.
Complex ComplexAsin(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_asin, z, format);
  const double x = z.real(), y = z.imag();
  return {EllipseSine(x, y, format), std::copysign(EllipseHeight(x, y, format), y)};
}

Complex ComplexAcos(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_acos, z, format);
  const double x = z.real(), y = z.imag();
  return {EllipseCosine(x, y, format), std::copysign(EllipseHeight(x, y, format), -y)};
}

// asinh(x + iy): with asin(y + ix) = p + iq it is q + ip.
Complex ComplexAsinh(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_asinh, z, format);
  const double x = z.real(), y = z.imag();
  return {std::copysign(EllipseHeight(y, x, format), x), EllipseSine(y, x, format)};
}

// acosh(+-0 + i NaN) = (NaN, pi/2) by defect report 471, which MPC does not know.
Complex ComplexAcosh(Complex z, const FloatFormat& format) {
  if (z.real() == 0 && std::isnan(z.imag())) return {CanonicalNaN(format), RealAcos(0, format)};
  if (!IsFinite(z)) return ApplyMpc(mpc_acosh, z, format);
  const double x = z.real(), y = z.imag();
  return {EllipseHeight(x, y, format), std::copysign(EllipseCosine(x, y, format), y)};
}

// re = ln(|1 + z|^2 / |1 - z|^2) / 4 = log1p(4x / ((1 - x)^2 + y^2)) / 4, odd in x;
// im = arg((1 + z) / (1 - z)) / 2 = atan2(2y, 1 - x^2 - y^2) / 2, one rounding of exact arguments.
Complex ComplexAtanh(Complex z, const FloatFormat& format) {
  if (!IsFinite(z)) return ApplyMpc(mpc_atanh, z, format);
  const double x = z.real(), y = z.imag();
  const MpfrReal re(std::abs(x)), im(y);
  MpfrReal twice(y), circle(kExactPrecision), norm(kExactPrecision), angle(kTruncatedPrecision);
  mpfr_mul_2ui(twice.get(), twice.get(), 1, MPFR_RNDN);
  mpfr_fmma(norm.get(), re.get(), re.get(), im.get(), im.get(), MPFR_RNDN);
  mpfr_ui_sub(circle.get(), 1, norm.get(), MPFR_RNDN);
  const int ternary = mpfr_atan2(angle.get(), twice.get(), circle.get(), MPFR_RNDZ);
  mpfr_div_2ui(angle.get(), angle.get(), 1, MPFR_RNDZ);
  const double angle_rounded = RoundMpfr(angle.get(), ternary, format);
  if (y == 0 && std::abs(x) <= 1) return {RealAtanh(x, format), angle_rounded};
  if (x == 0) return {RoundToFormat(x, format), angle_rounded};
  // (1 - x)^2 + y^2 = 1 - 2x + norm
  MpfrReal distance(kExactPrecision);
  mpfr_add_ui(distance.get(), norm.get(), 1, MPFR_RNDN);
  mpfr_sub(distance.get(), distance.get(), re.get(), MPFR_RNDN);
  mpfr_sub(distance.get(), distance.get(), re.get(), MPFR_RNDN);
  const double height = RoundZiv(
      [&](mpfr_prec_t p) {
        const Interval four_x = Interval(std::abs(x), p) * Interval(4.0, p);
        return (four_x / Interval(mpfr_set, distance.get(), p)).Increasing(mpfr_log1p).Half().Half();
      },
      format);
  return {std::copysign(height, x), angle_rounded};
}

// atan z = -i atanh(iz): with atanh(-y + ix) = p + iq it is q - ip.
Complex ComplexAtan(Complex z, const FloatFormat& format) {
  const Complex turned = ComplexAtanh({-z.imag(), z.real()}, format);
  return RoundParts(turned.imag(), -turned.real(), format);
}

}  // namespace assay
