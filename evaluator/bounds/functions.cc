// Functions of one or two numbers: how far the operand's radius r moves f(x), by the largest slope in [x - r,
// x + r]. Below, v = f(x) rounded, and q = r / |x|.
#include <algorithm>
#include <cmath>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

Node X(BoundContext& c) { return c.ConvertTo(c.Value(0), RadiusType(c.result_type())); }
Node Ratio(BoundContext& c, Node radius, Node x) { return Larger(c, c.Over(radius, x)); }
// if_true where the predicate holds; nothing is known elsewhere.
// An operand that is exact there is so in any case.
Node Where(BoundContext& c, Node predicate, Node if_true, Node radius) {
  const Node known = c.Choose(predicate, if_true, c.Constant(kInfinity, radius));
  return c.Choose(c.Compare("EQ", radius, 0), Node(), known);
}
// -log(1 - q) for q < 1, the distance of logarithms.
Node LogOfRatio(BoundContext& c, Node q) {
  return c.Write(Opcode::kNegate, {c.Write(Opcode::kLog1p, {c.Write(Opcode::kNegate, {q})})});
}
// e^a <= 1 + a + a^2 for a <= 1; beyond, nothing.
Node Growth(BoundContext& c, Node a) {
  const Node near = c.Plus(c.Plus(a, c.Times(a, a)), 1);
  return c.Choose(c.Compare("LE", a, 1), Larger(c, near), c.Constant(kInfinity, a));
}
// |x| + r, above its rounding.
Node Reach(BoundContext& c) { return Larger(c, c.Plus(c.Magnitude(c.Value(0)), c.Radius(0))); }

// No two values of the function are farther apart than `most`. An operand of which nothing is known
// may be NaN: 0 r is then too.
Node AtMost(BoundContext& c, Node moved, double most) {
  return !moved ? moved
                : c.Plus(c.Min(moved, most),
                         c.Write(Opcode::kMultiply, {c.Radius(0), c.Constant(0, c.Radius(0))}));
}

// Slopes of at most 1 (or `slope`), and values in an interval of that length.
void GiveSlope(BoundContext& c, double slope, double most) {
  if (!GaveComplex(c)) SetRoundedRadius(c, AtMost(c, c.Times(c.Radius(0), slope), most));
}

// A function that levels off: where the operand is a number, however far from x, it is moved by at most
// `most`; where all that the operand can be is at least `edge`, or at most -edge, the function has come
// nearer to its limit than `rest`.
Node LevelledOff(BoundContext& c, Node moved, double most, double edge, double rest) {
  const Ends e = c.EndsOf(0);
  const Node flat = c.Write(Opcode::kOr, {c.Compare("GE", e.low, edge), c.Compare("LE", e.high, -edge)});
  const Node is_number =
      c.Write(Opcode::kAnd, {c.Compare("EQ", e.low, e.low), c.Compare("EQ", e.high, e.high)});
  const Node near = c.Choose(c.Compare("LE", moved, most), moved, c.Constant(most, moved));
  const Node known = c.Choose(flat, c.Constant(rest, moved), near);
  return c.Choose(is_number, known, c.Constant(kInfinity, moved));
}

// asin, acos: 1 / sqrt(1 - e^2) at e = |x| + r < 1.
void GiveArc(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node e = Reach(c), square = c.Times(OneMinus(c, e), c.Plus(e, 1));
  const Node moved = c.Over(r, c.Write(Opcode::kSqrt, {Larger(c, square)}));
  SetRoundedRadius(c, Where(c, c.Compare("LT", e, 1), Larger(c, Larger(c, moved)), r));
}

// sinh and cosh: (|v| + 1)(e^r - 1), since cosh x <= |sinh x| + 1 and |sinh x| <= cosh x.
void GiveHyperbolic(BoundContext& c) {
  if (GaveComplex(c)) return;
  SetRoundedRadius(c, c.Times(c.Plus(c.Magnitude(c.Result()), 1), c.Function(Opcode::kExpm1, c.Radius(0))));
}

}  // namespace

void Acos(BoundContext& c) { GiveArc(c); }
void Asin(BoundContext& c) { GiveArc(c); }
void Asinh(BoundContext& c) { GiveSlope(c, 1, kInfinity); }
void Cos(BoundContext& c) { GiveSlope(c, 1, 2); }
void Sin(BoundContext& c) { GiveSlope(c, 1, 2); }
void Cosh(BoundContext& c) { GiveHyperbolic(c); }
void Sinh(BoundContext& c) { GiveHyperbolic(c); }
// The largest slope is 2 / sqrt(pi) = 1.12837…; erfc(4) = 1.54e-8 < 2^-25, erfc(6) = 2.2e-17 < 2^-54.
void Erf(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const bool is_f64 = RadiusType(c.result_type()) == ElementType::kF64;
  SetRoundedRadius(c, LevelledOff(c, c.Times(r, 1.1284), 2, is_f64 ? 6 : 4, is_f64 ? 0x1p-54 : 0x1p-25));
}

// 1 / sqrt(d^2 - 1) at d = x - r > 1.
void Acosh(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node x = X(c),
             d = c.Minus(c.Times(x, 1 - 4 * (Slack(c.ShapeOf(x).element_type()) - 1)), Larger(c, r));
  const Node square = c.Times(c.Plus(d, -1), c.Plus(d, 1));
  SetRoundedRadius(
      c, Where(c, c.Compare("GT", d, 1), Larger(c, c.Over(r, c.Write(Opcode::kSqrt, {square}))), r));
}

// 1 / (1 - e^2) at e = |x| + r < 1.
void Atanh(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node e = Reach(c);
  const Node moved = c.Over(r, c.Times(OneMinus(c, e), c.Plus(e, 1)));
  SetRoundedRadius(c, Where(c, c.Compare("LT", e, 1), Larger(c, moved), r));
}

// The angle of points at a distance of at most ra + rb from (b, a), whose modulus is at least m =
// max(|a|, |b|): asin(q) <= 1.05 q for q = (ra + rb) / m <= 1/2. Where the points lie on both sides of the
// negative real axis nothing is known.
void Atan2(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node ra = c.Radius(0), rb = c.Radius(1), r = c.Plus(ra, rb);
  if (!r) return SetRoundedRadius(c, r);
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1));
  const Node q = Ratio(c, r, c.Max(a, b));
  Node one_side = c.Compare("GT", c.ConvertTo(c.Value(1), c.ShapeOf(b).element_type()), c.OrZero(rb, b));
  if (ra) {
    const Node off_axis = c.Write(Opcode::kOr, {c.Compare("GT", a, ra), c.Compare("EQ", ra, 0)});
    one_side = c.Write(Opcode::kOr, {one_side, off_axis});
  } else {
    one_side = c.Compare("EQ", r, r);
  }
  SetRoundedRadius(c,
                   Where(c, c.Write(Opcode::kAnd, {one_side, c.Compare("LE", q, 0.5)}), c.Times(q, 1.05), r));
}

// |v| q / (3 (1 - q)) for q < 1/2, since the slope is v / (3 x);
// and nowhere more than (4 r)^(1/3) <= 1.6 r^(1/3).
void Cbrt(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node q = Ratio(c, r, c.Magnitude(c.Value(0)));
  const Node near = c.Over(c.Times(c.Times(Upper(c), q), 1.0 / 3), OneMinus(c, q));
  SetRoundedRadius(c, c.Choose(c.Compare("LT", q, 0.5), near, c.Times(c.Write(Opcode::kCbrt, {r}), 1.6)));
}

// e^x (e^r - 1), for complex numbers too. Of real ones e^r - 1 <= r + r^2 as long as r <= 1; beyond, it is
// known only where it saturates, whatever the operand is:
//   high <= log(smallest): all of it is below the smallest number, which is as far as anything is from 0
//   (masks: e^-1e9);
//   low >= log(largest) + 1 - log(1 - a), a being what the backend may be off by: infinite even then. A
//   backend that keeps more precision keeps more range: f32's;
//   x = -inf for certain: exactly 0.
void Exp(BoundContext& c) {
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  if (IsComplex(c.result_type()))
    return SetRoundedRadius(c, c.Times(Upper(c), c.Function(Opcode::kExpm1, r)));
  const Node near = c.Times(Upper(c), c.Plus(r, c.Times(r, r)));
  const FloatFormat& format = *Info(c.result_type()).format;
  const ElementType type = RadiusType(c.result_type());
  const double smallest = std::max(format.min_subnormal, type == ElementType::kF64 ? 0x1p-1074 : 0x1p-149);
  const Ends e = c.EndsOf(0);
  const Node far = c.Choose(c.Compare("LE", e.high, std::floor(std::log(smallest)) - 1),
                            c.Constant(smallest, r), c.Constant(kInfinity, r));
  const Node spread = c.Choose(c.Compare("LE", r, 1), near, far);
  const Allowance allowed = c.Allowed(c.result_type());
  const double error = allowed.ulps * UlpOf(c.result_type()) + allowed.relative;
  if (format.specials != FloatSpecials::kIeee || error >= 1) return SetRoundedRadius(c, spread, allowed);
  const double largest = allowed.keeps_precision ? Info(type).format->max_finite : format.max_finite;
  const Node infinite = c.Compare("GE", e.low, std::log(largest) + 1 - std::log1p(-error));
  const Node zero = c.Write(Opcode::kAnd, {c.Compare("EQ", X(c), -kInfinity), c.Compare("LT", r, kInfinity)});
  const Node certain = c.Write(Opcode::kOr, {infinite, zero});
  SetRoundedRadius(c, c.Choose(certain, Node(), spread), allowed, certain);
}

// e^x (e^r - 1), where e^x = v + 1 but for the rounding of v.
void Expm1(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node v = c.ConvertTo(c.Result(), RadiusType(c.result_type()));
  const Node power = c.Plus(c.Write(Opcode::kAbs, {c.Plus(v, 1)}), c.Times(Upper(c), UlpOf(c.result_type())));
  SetRoundedRadius(c, c.Times(power, c.Function(Opcode::kExpm1, r)));
}

// -log(1 - q), q < 1. Of what is exactly 0 it is -inf.
void Log(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node q = Ratio(c, r, c.Magnitude(c.Value(0)));
  SetRoundedRadius(c, Where(c, c.Compare("LT", q, 1), LogOfRatio(c, q), r));
  c.SetRadius(c.Choose(c.Compare("EQ", c.Plus(c.Magnitude(c.Value(0)), r), 0), Node(), c.ResultRadius()));
}

// The same of 1 + x.
void Log1p(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node q = Ratio(c, r, c.Write(Opcode::kAbs, {c.Plus(X(c), 1)}));
  SetRoundedRadius(c, Where(c, c.Compare("LT", q, 1), LogOfRatio(c, q), r));
}

// The slope v (1 - v) is at most 1/4, and grows by at most e^r on the way. Beyond 18 (38 in f64) it is e^-18
// < 2^-25 from 1 or 0, and below log(smallest) less than the smallest number.
void Logistic(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node v = c.Magnitude(c.Result());
  const Node slope = c.Times(c.Plus(c.Times(v, OneMinus(c, v)), 2 * UlpOf(c.result_type())), Growth(c, r));
  const bool is_f64 = RadiusType(c.result_type()) == ElementType::kF64;
  const Node moved =
      LevelledOff(c, c.Times(c.Min(slope, 0.25), r), 1, is_f64 ? 38 : 18, is_f64 ? 0x1p-54 : 0x1p-25);
  const double smallest =
      std::max(Info(c.result_type()).format->min_subnormal, is_f64 ? 0x1p-1074 : 0x1p-149);
  const Node vanishes = c.Compare("LE", c.EndsOf(0).high, std::floor(std::log(smallest)) - 1);
  SetRoundedRadius(c, c.Choose(vanishes, c.Constant(smallest, moved), moved));
}

// |log v' - log v| <= E = (|y| + ry) (-log(1 - q)) + ry |log |x||, so |v| (e^E - 1), for q < 1/2
// (and x > 0 where y is not exact). With an exact y >= 1 the slope is at most y (|x| + r)^(y - 1), for any q.
void Power(BoundContext& c) {
  if (GaveComplex(c)) return;
  if (IsIntegral(c.result_type())) return Undecided(c);
  const Node rx = c.Radius(0), ry = c.Radius(1);
  if (!rx && !ry) return SetRoundedRadius(c, Node());
  const ElementType type = RadiusType(c.result_type());
  const Node x = c.Magnitude(c.Value(0)), y = c.Magnitude(c.Value(1));
  const Node q = Ratio(c, c.OrZero(rx, x), x);
  Node exponent = c.Times(c.Plus(y, ry), LogOfRatio(c, q));
  if (ry) exponent = c.Plus(exponent, c.Times(ry, c.Write(Opcode::kAbs, {c.Write(Opcode::kLog, {x})})));
  const Node near = c.Times(Upper(c), c.Write(Opcode::kExpm1, {Larger(c, exponent)}));
  Node sound = c.Compare("LT", q, 0.5), otherwise = c.Constant(kInfinity, x);
  if (ry) {
    sound = c.Write(Opcode::kAnd, {sound, c.Compare("GT", X(c), 0)});
  } else {
    const Node signed_y = c.ConvertTo(c.Value(1), type);
    const Node steep = c.Write(Opcode::kPower, {Larger(c, c.Plus(x, rx)), c.Plus(signed_y, -1)});
    otherwise = c.Choose(c.Compare("GE", signed_y, 1), c.Times(c.Times(steep, signed_y), rx), otherwise);
  }
  SetRoundedRadius(
      c, c.Choose(c.Compare("EQ", c.Plus(rx, ry), 0), Node(), Larger(c, c.Choose(sound, near, otherwise))));
}

// v q / (2 (1 - q)^2), since (1 - q)^(-3/2) is less than the power -2. q < 1.
void Rsqrt(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node q = Ratio(c, r, c.Magnitude(c.Value(0))), rest = OneMinus(c, q);
  const Node moved = c.Over(c.Over(c.Times(c.Times(Upper(c), q), 0.5), rest), rest);
  SetRoundedRadius(c, Where(c, c.Compare("LT", q, 1), Larger(c, moved), r));
}

// |x' - x| / (sqrt x' + sqrt x) <= r / v, as long as r <= x.
void Sqrt(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  SetRoundedRadius(
      c, Where(c, c.Compare("LE", Larger(c, r), X(c)), Larger(c, c.Over(r, c.Magnitude(c.Result()))), r));
}

// tan(x + r) - tan x = t (1 + v^2) / (1 - v t), t = tan r, as long as |v| t < 1 and r < 1.
void Tan(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node v = Larger(c, Upper(c)), t = Larger(c, c.Write(Opcode::kTan, {r})),
             reach = Larger(c, c.Times(v, t));
  const Node moved = c.Over(c.Times(t, c.Plus(c.Times(v, v), 1)), OneMinus(c, reach));
  const Node sound = c.Write(Opcode::kAnd, {c.Compare("LT", reach, 1), c.Compare("LT", r, 1)});
  SetRoundedRadius(c, Where(c, sound, Larger(c, moved), r));
}

// The slope 1 - v^2 is at most 1, and grows by at most e^(2r) on the way. 1 - tanh(10) < 2 e^-20 < 2^-26,
// and 1 - tanh(20) < 2^-55.
void Tanh(BoundContext& c) {
  if (GaveComplex(c)) return;
  const Node r = c.Radius(0);
  if (!r) return SetRoundedRadius(c, r);
  const Node v = c.Magnitude(c.Result());
  const Node slope =
      c.Times(c.Plus(OneMinus(c, c.Times(v, v)), 4 * UlpOf(c.result_type())), Growth(c, c.Times(r, 2.0)));
  const bool is_f64 = RadiusType(c.result_type()) == ElementType::kF64;
  SetRoundedRadius(
      c, LevelledOff(c, c.Times(c.Min(slope, 1), r), 2, is_f64 ? 20 : 10, is_f64 ? 0x1p-55 : 0x1p-26));
}

}  // namespace assay::bound
