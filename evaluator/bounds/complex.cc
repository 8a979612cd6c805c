// Functions of complex numbers: how far z' is from f(z) where z' lies in the disc around z with the operand's
// radius r. Below, v = f(z) rounded, and q = r / |z|. Where f has a branch cut along the negative real axis,
// a disc that meets it is undecided.
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

Node Both(BoundContext& c, Node a, Node b) { return c.Write(Opcode::kAnd, {a, b}); }

// The disc around z lies off the negative real axis: all of it to the right of zero, above the axis,
// or below it.
Node IsOffCut(BoundContext& c, Node z) {
  const Node r = Larger(c, c.Radius(0));
  const Node right = c.Compare("GT", c.Write(Opcode::kReal, {z}), r);
  const Node aside = c.Compare("GT", c.Write(Opcode::kAbs, {c.Write(Opcode::kImag, {z})}), r);
  return c.Write(Opcode::kOr, {right, aside});
}

void GiveWhere(BoundContext& c, Node predicate, Node moved) {
  const Node r = c.Radius(0);
  const Node known = c.Choose(predicate, Larger(c, moved), c.Constant(kInfinity, r));
  SetRoundedRadius(c, c.Choose(c.Compare("EQ", r, 0), Node(), known));
}

// |log(1 + w)| <= -log(1 - |w|).
void GiveLog(BoundContext& c, Node z) {
  const Node q = Larger(c, c.Over(c.Radius(0), c.Magnitude(z)));
  const Node moved = c.Write(Opcode::kNegate, {c.Write(Opcode::kLog1p, {c.Write(Opcode::kNegate, {q})})});
  GiveWhere(c, Both(c, c.Compare("LT", q, 1), IsOffCut(c, z)), moved);
}

// |sqrt(1 + w) - 1| <= 1 - sqrt(1 - |w|) <= |w|, and the cube root no more; |(1 + w)^(-1/2) - 1| <=
// (1 - |w|)^(-1/2) - 1 <= |w| / (2 (1 - |w|)^2): the coefficients of the series in -|w| have one sign.
void GiveRoot(BoundContext& c, bool is_inverse) {
  const Node q = Larger(c, c.Over(c.Radius(0), c.Magnitude(c.Value(0)))), rest = OneMinus(c, q);
  Node moved = c.Times(Upper(c), q);
  if (is_inverse) moved = c.Over(c.Over(c.Times(moved, 0.5), rest), Larger(c, rest));
  GiveWhere(c, Both(c, c.Compare("LT", q, 0.5), IsOffCut(c, c.Value(0))), Larger(c, moved));
}

// `moved` where the operand has a radius; a factor that is infinite there would make NaN of it.
void GiveUnlessExact(BoundContext& c, Node moved) {
  SetRoundedRadius(c, c.Choose(c.Compare("EQ", c.Radius(0), 0), Node(), Larger(c, moved)));
}

// |sin' z| and |cos' z| are at most cosh(Im z), |sinh' z| and |cosh' z| at most cosh(Re z):
// by the part that makes them grow.
void GiveWave(BoundContext& c, Opcode part) {
  const Node r = c.Radius(0), x = c.Write(Opcode::kAbs, {c.Write(part, {c.Value(0)})});
  const Node steepest = c.Write(Opcode::kCosh, {Larger(c, c.Plus(x, r))});
  GiveUnlessExact(c, c.Times(r, steepest));
}

// tan(z + d) - tan z = t (1 + v^2) / (1 - v t) with t = tan d, |t| <= tan |d|;
// of tanh the signs of v^2 and v t change.
void GiveTangent(BoundContext& c) {
  const Node r = c.Radius(0), v = Larger(c, Upper(c)), t = Larger(c, c.Write(Opcode::kTan, {r}));
  const Node reach = Larger(c, c.Times(v, t));
  const Node moved = c.Over(c.Times(t, c.Plus(c.Times(v, v), 1)), OneMinus(c, reach));
  GiveWhere(c, Both(c, c.Compare("LT", reach, 0.5), c.Compare("LT", r, 1)), Larger(c, moved));
}

// e^z (e^d - 1), where e^z = v + 1 but for the rounding of v.
void GiveExpm1(BoundContext& c) {
  const Node power = c.Magnitude(c.Write(Opcode::kAdd, {c.Result(), c.Constant(1, c.Result())}));
  const Node above = c.Plus(power, c.Times(c.Plus(Upper(c), 1), 2 * UlpOf(c.result_type())));
  GiveUnlessExact(c, c.Times(above, c.Write(Opcode::kExpm1, {c.Radius(0)})));
}

// With t = |e^d - 1| <= e^|d| - 1: s(z + d) - s(z) = v (1 - v) (e^d - 1) / (1 + v (e^d - 1)), as long as |v|
// t < 1.
void GiveComplexLogistic(BoundContext& c) {
  const Node r = c.Radius(0), v = Larger(c, Upper(c)), t = Larger(c, c.Write(Opcode::kExpm1, {r}));
  const Node rest = c.Magnitude(c.Write(Opcode::kSubtract, {c.Constant(1, c.Result()), c.Result()}));
  const Node above = c.Plus(rest, c.Times(c.Plus(v, 1), 2 * UlpOf(c.result_type())));
  const Node reach = Larger(c, c.Times(v, t));
  const Node moved = c.Over(c.Times(c.Times(v, above), t), OneMinus(c, reach));
  GiveWhere(c, c.Compare("LT", reach, 0.5), Larger(c, moved));
}

// |log v' - log v| <= E = (|w| + rw) (-log(1 - q)) + rw |log z|, so |v| (e^E - 1), where z is exact or q <
// 1/2 and its disc lies off the cut.
void GiveComplexPower(BoundContext& c) {
  const Node rz = c.Radius(0), rw = c.Radius(1);
  const Node z = c.Magnitude(c.Value(0)), w = c.Magnitude(c.Value(1));
  Node exponent, known;
  if (rz) {
    const Node q = Larger(c, c.Over(rz, z));
    const Node of_log = c.Write(Opcode::kNegate, {c.Write(Opcode::kLog1p, {c.Write(Opcode::kNegate, {q})})});
    const Node is_exact = c.Compare("EQ", rz, 0);
    exponent = c.Choose(is_exact, Node(), c.Times(c.Plus(w, rw), of_log));
    known = c.Write(Opcode::kOr, {is_exact, Both(c, c.Compare("LT", q, 0.5), IsOffCut(c, c.Value(0)))});
  }
  if (rw) exponent = c.Plus(exponent, c.Times(rw, c.Magnitude(c.Write(Opcode::kLog, {c.Value(0)}))));
  Node moved = c.Times(Larger(c, Upper(c)), c.Write(Opcode::kExpm1, {Larger(c, exponent)}));
  if (known) moved = c.Choose(known, moved, c.Constant(kInfinity, moved));
  SetRoundedRadius(c, c.Choose(c.Compare("EQ", c.Plus(rz, rw), 0), Node(), Larger(c, moved)));
}

// Slopes of 1 / sqrt(1 - z^2), or 1 / (1 - z^2), whose poles are 1 and -1, or i and -i: on the disc at most
// 1 / ((|z - 1| - r) (|z + 1| - r)), or its root. Cuts lead from the poles outwards, but that of acosh from
// 1 to the left.
void GiveComplexArc(BoundContext& c) {
  const Opcode op = c.view().instruction.opcode;
  const Node r = Larger(c, c.Radius(0)), real = c.Write(Opcode::kReal, {c.Value(0)}),
             imaginary = c.Write(Opcode::kImag, {c.Value(0)});
  const bool is_turned = op == Opcode::kAsinh;
  const Node x = is_turned ? imaginary : real, y = is_turned ? real : imaginary;
  const auto distance = [&](double pole) {
    const Node from = c.Magnitude(c.Write(Opcode::kComplex, {c.Plus(x, -pole), y}));
    return c.Minus(c.Times(from, 1 - 8 * (Slack(c.ShapeOf(r).element_type()) - 1)), r);
  };
  const Node a = distance(1), b = distance(-1);
  const Node aside = c.Compare("GT", c.Write(Opcode::kAbs, {y}), r);
  const Node between = op == Opcode::kAcosh
                           ? c.Compare("GT", x, c.Plus(r, 1))
                           : c.Compare("LT", Larger(c, c.Plus(c.Write(Opcode::kAbs, {x}), r)), 1);
  const Node known =
      Both(c, c.Write(Opcode::kOr, {aside, between}), Both(c, c.Compare("GT", a, 0), c.Compare("GT", b, 0)));
  Node least = c.Times(a, b);
  if (op != Opcode::kAtanh) least = c.Write(Opcode::kSqrt, {least});
  GiveWhere(c, known, Larger(c, c.Over(r, least)));
}

}  // namespace

// |z'/|z'| - z/|z|| <= 2 q.
void ComplexSign(BoundContext& c) {
  if (!c.Radius(0)) return SetRoundedRadius(c, Node());
  const Node q = c.Over(c.Radius(0), c.Magnitude(c.Value(0)));
  GiveWhere(c, c.Compare("LT", q, 0.5), c.Times(q, 2.0));
}

bool GaveComplex(BoundContext& c) {
  if (!IsComplex(c.result_type()) || !c.AnyRadius()) return false;
  switch (c.view().instruction.opcode) {
    case Opcode::kSin:
    case Opcode::kCos:
      GiveWave(c, Opcode::kImag);
      break;
    case Opcode::kSinh:
    case Opcode::kCosh:
      GiveWave(c, Opcode::kReal);
      break;
    case Opcode::kTan:
    case Opcode::kTanh:
      GiveTangent(c);
      break;
    case Opcode::kLog:
      GiveLog(c, c.Value(0));
      break;
    case Opcode::kLog1p:
      GiveLog(c, c.Write(Opcode::kAdd, {c.Value(0), c.Constant(1, c.Value(0))}));
      break;
    case Opcode::kSqrt:
    case Opcode::kCbrt:
      GiveRoot(c, false);
      break;
    case Opcode::kRsqrt:
      GiveRoot(c, true);
      break;
    case Opcode::kExpm1:
      GiveExpm1(c);
      break;
    case Opcode::kLogistic:
      GiveComplexLogistic(c);
      break;
    case Opcode::kPower:
      GiveComplexPower(c);
      break;
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
      GiveComplexArc(c);
      break;
    default:
      c.MarkUnchecked("no rule for complex operands yet");
  }
  return true;
}

}  // namespace assay::bound
