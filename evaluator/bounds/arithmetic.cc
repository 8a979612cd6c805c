// Arithmetic, comparison, choice and conversion. Below, v is the result, a and b the operands, ra and rb their radii.
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// The operand as real numbers of radius type, spread over an array like the result where it is a scalar.
Ball BallOf(BoundContext& c, size_t k) {
  const ElementType type = RadiusType(c.result_type());
  Ball ball = {c.As(c.Value(k), type), c.As(c.Radius(k), type)};
  if (c.view().operand(k).rank() == c.view().result().rank()) return ball;
  ball.value = c.Spread(ball.value, c.Result());
  if (ball.radius) ball.radius = c.Spread(ball.radius, c.Result());
  return ball;
}

// r = ra + rb. With an infinite operand, and another that is not, the sum is it, whatever the radii. Nothing is to be compared where
// an infinite operand's radius says that nothing is known anyway.
void GiveSum(BoundContext& c) {
  const ElementType type = c.result_type();
  if (type == ElementType::kPred) return Undecided(c);
  const Node spread = c.Plus(c.Radius(0), c.Radius(1));
  const Allowance allowed = c.Allowed(type);
  if (!IsFloat(type) || (!spread && allowed.is_correctly_rounded())) return GiveRounded(c, spread);
  Node larger;
  for (size_t k = 0; k < 2; ++k) {
    if (!c.InfinityIsUndecided(k)) larger = c.Max(larger, c.Magnitude(c.Value(k)));
  }
  GiveRounded(c, spread, allowed, larger ? c.Is("EQ", larger, kInfinity) : Node());
}

void GiveExtreme(BoundContext& c, Opcode op) {
  if (!c.AnyRadius()) return;
  const ElementType type = c.result_type();
  if (type == ElementType::kPred || IsComplex(type)) return Undecided(c);
  // Large integers are no f32: no comparison of them here.
  if (IsIntegral(type)) return c.Give(c.Max(c.Radius(0), c.Radius(1)));
  c.Give(Extreme(c, op, BallOf(c, 0), BallOf(c, 1)).radius);
}

// v = trunc(a). Where both ends of the interval have the same integer it is decided, else no integer is farther than r + 1.
void GiveTruncated(BoundContext& c, Node radius) {
  const ElementType type = RadiusType(c.operand_type(0));
  const Node x = c.As(c.Value(0), type), wide = c.Times(radius, Slack(type));
  const Node low = c.As(c.Minus(x, wide), c.result_type()), high = c.As(c.Plus(x, wide), c.result_type());
  GiveUnrounded(c, c.Choose(c.Is("EQ", low, high), Node(), c.Plus(radius, 1)));
}

// v = (a != 0).
void GiveNonzero(BoundContext& c, Node radius) {
  const Node decided =
      c.Write(Opcode::kOr, {c.Is("GT", c.Magnitude(c.Value(0)), radius), c.Is("EQ", radius, 0)});
  c.Give(c.As(c.Choose(decided, Node(), c.Constant(1, radius)), ElementType::kF32));
}

// Every value of the first type is one of the second.
bool Contains(ElementType from, ElementType to) {
  if (from == ElementType::kPred || from == to) return true;
  if (!IsFloat(to)) return false;
  const FloatFormat& wide = *Info(to).format;
  if (IsIntegral(from)) {
    return Bits(from) - (IsSignedIntegral(from) ? 1 : 0) <= wide.mantissa_bits + 1 &&
           Bits(from) <= wide.max_exponent;
  }
  if (!IsFloat(from)) return false;
  const FloatFormat& narrow = *Info(from).format;
  return narrow.mantissa_bits <= wide.mantissa_bits && narrow.max_exponent <= wide.max_exponent &&
         narrow.min_subnormal >= wide.min_subnormal && wide.specials == FloatSpecials::kIeee;
}

}  // namespace

// ||a'| - |a|| <= |a' - a|. Of complex numbers the modulus is rounded.
void Abs(BoundContext& c) {
  if (IsComplex(c.operand_type(0))) return GiveRounded(c, c.Radius(0));
  GiveUnrounded(c, c.Radius(0));
}

void Add(BoundContext& c) { GiveSum(c); }
void Subtract(BoundContext& c) { GiveSum(c); }

// |a'b' - ab| <= |a| rb + |b| ra + ra rb, of a square (2 |a| + ra) ra.
void Multiply(BoundContext& c) {
  if (c.result_type() == ElementType::kPred) return Undecided(c);
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1)), ra = c.Radius(0), rb = c.Radius(1);
  const auto& operands = c.view().instruction.operands;
  if (operands[0] == operands[1]) return GiveRounded(c, c.Times(c.Plus(c.Times(a, 2.0), ra), ra));
  GiveRounded(c, c.Plus(c.Times(c.Plus(a, ra), rb), c.Times(b, ra)));
}

// |a'/b' - a/b| = |(a' - a) b - a (b' - b)| / |b b'| <= (ra + |a/b| rb) / (|b| - rb), where rb < |b|.
void Divide(BoundContext& c) {
  if (!IsNumber(c.result_type())) return Undecided(c);
  const Node ra = c.Radius(0), rb = c.Radius(1), b = c.Magnitude(c.Value(1));
  if (!rb) return GiveRounded(c, c.Over(ra, b));
  const Node least = c.Minus(c.Times(b, 2 - Slack(RadiusType(c.result_type()))), rb);
  const Node moved = c.Over(c.Plus(ra, c.Times(Upper(c), rb)), least);
  const Node sound = c.Choose(c.Is("GT", least, 0), moved, c.Constant(kInfinity, moved));
  GiveRounded(c, c.Choose(c.Is("EQ", c.Plus(ra, rb), 0), Node(), sound));
}

// v = a - n b. As long as the whole number n stays: ra + |n| rb, where that is less than |v| and than |b| - rb - |v|.
void Remainder(BoundContext& c) {
  if (!IsNumber(c.result_type())) return Undecided(c);
  if (!c.AnyRadius()) return GiveRounded(c, Node());
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1)), v = c.Magnitude(c.Result());
  const Node spread =
      c.Times(c.Plus(c.Radius(0), c.Times(c.Over(a, b), c.Radius(1))), Slack(c.ShapeOf(a).element_type()));
  const Node room = c.Minus(c.Minus(c.Times(b, 2 - Slack(c.ShapeOf(b).element_type())), v), c.Radius(1));
  const Node stays = c.Write(Opcode::kAnd, {c.Is("LT", spread, v), c.Is("LT", spread, room)});
  const Node decided = c.Write(Opcode::kOr, {stays, c.Is("EQ", c.Plus(c.Radius(0), c.Radius(1)), 0)});
  GiveRounded(c, c.Choose(decided, spread, c.Constant(kInfinity, spread)));
}

void Complex(BoundContext& c) { GiveUnrounded(c, c.Plus(c.Radius(0), c.Radius(1))); }

void Maximum(BoundContext& c) { GiveExtreme(c, Opcode::kMaximum); }
void Minimum(BoundContext& c) { GiveExtreme(c, Opcode::kMinimum); }

// clamp(low, x, high) = min(max(low, x), high).
void Clamp(BoundContext& c) {
  if (!c.AnyRadius()) return;
  if (!IsFloat(c.result_type()))
    return GiveUnrounded(c, c.Max(c.Max(BallOf(c, 0).radius, c.Radius(1)), BallOf(c, 2).radius));
  const Ball larger = Extreme(c, Opcode::kMaximum, BallOf(c, 0), BallOf(c, 1));
  c.Give(Extreme(c, Opcode::kMinimum, larger, BallOf(c, 2)).radius);
}

// Decided where |a - b| > ra + rb, or both are exact. Large integers are rounded to f32 before: they need a margin.
void Compare(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const ElementType type = RadiusType(c.operand_type(0));
  const Node reach = c.Plus(c.Radius(0), c.Radius(1));
  Node apart, margin;
  if (IsComplex(c.operand_type(0))) {
    apart = c.Magnitude(c.Write(Opcode::kSubtract, {c.Value(0), c.Value(1)}));
  } else {
    apart = c.Write(Opcode::kAbs, {c.Minus(c.As(c.Value(0), type), c.As(c.Value(1), type))});
  }
  if (IsIntegral(c.operand_type(0)))
    margin = c.Times(c.Plus(c.Magnitude(c.Value(0)), c.Magnitude(c.Value(1))), 0x1p-22);
  const Node far = c.Is("GT", apart, c.Plus(c.Times(reach, Slack(type)), margin));
  const Node decided = c.Write(Opcode::kOr, {far, c.Is("EQ", reach, 0)});
  c.Give(c.As(c.Choose(decided, Node(), c.Constant(1, reach)), ElementType::kF32));
}

// The chosen side's radius; where it is not decided which that is, what holds both: max(ra, rb) + |a - b|.
void Select(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const Node like = c.Magnitude(c.Value(1)), ra = c.Radius(1), rb = c.Radius(2);
  const Node moved = ra || rb ? c.Again({c.Value(0), c.OrZero(ra, like), c.OrZero(rb, like)}) : Node();
  const Node undecided = c.Radius(0);
  if (!undecided) return c.Give(moved);
  const ElementType type = c.ShapeOf(like).element_type();
  const Node apart = IsComplex(c.result_type())
                         ? c.Magnitude(c.Write(Opcode::kSubtract, {c.Value(1), c.Value(2)}))
                         : c.Write(Opcode::kAbs, {c.Minus(c.As(c.Value(1), type), c.As(c.Value(2), type))});
  const Node both = c.Times(c.Plus(c.Max(ra, rb), apart), Slack(type));
  const Node chosen = c.Is("EQ", undecided, 0);
  const bool is_scalar = c.view().operand(0).rank() != c.view().result().rank();
  c.Give(c.Choose(is_scalar ? c.Spread(chosen, like) : chosen, moved, both));
}

// A finite radius leaves no doubt: it does not reach where numbers overflow.
void IsFinite(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const Node one = c.Constant(1, radius);
  c.Give(c.As(c.Choose(c.Is("LT", radius, kInfinity), Node(), one), ElementType::kF32));
}

void Convert(BoundContext& c) {
  const ElementType from = c.operand_type(0), to = c.result_type();
  const Node radius = c.Radius(0);
  if (to == ElementType::kPred) return radius ? GiveNonzero(c, radius) : void();
  if (IsIntegral(to)) {
    if (!radius) return;
    return IsFloat(from) ? GiveTruncated(c, radius) : GiveUnrounded(c, radius);
  }
  const bool exact =
      Contains(IsComplex(from) ? ComponentType(from) : from, IsComplex(to) ? ComponentType(to) : to);
  return exact ? GiveUnrounded(c, radius) : GiveRounded(c, radius);
}

// v = R(a), which is monotone: R(a') lies between R(a - w) and R(a + w). In a type with fewer bits than radii R rounds subnormal
// numbers otherwise than in radius type, in which a backend may keep them: both are asked.
void ReducePrecision(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const ElementType type = c.result_type(), wide = RadiusType(type);
  const Node x = c.As(c.Value(0), wide), v = c.As(c.Result(), wide), width = WidthOfEnds(c, radius);
  Node farthest;
  for (const Node end : {c.Minus(x, width), c.Plus(x, width)}) {
    for (const ElementType in : {wide, type}) {
      Instruction reduced(Opcode::kReducePrecision);
      reduced.attributes = c.attributes();
      reduced.operands = {c.As(end, in).id};
      const Node there = c.As(c.Write(std::move(reduced)), wide);
      farthest = c.Max(farthest, c.Write(Opcode::kAbs, {c.Minus(v, there)}));
      if (type == wide) break;
    }
  }
  const Node moved = Within(c, c.Times(farthest, Slack(wide)), c.Result(), type);
  c.Give(c.Choose(c.Is("EQ", radius, 0), Node(), moved));
}

// For each random number a step function of steps of 1.
void StochasticConvert(BoundContext& c) {
  if (c.Radius(1)) return c.GiveUp("random bits that are not exact");
  const Node radius = c.Radius(0);
  if (radius) GiveUnrounded(c, c.Choose(c.Is("EQ", radius, 0), Node(), c.Plus(radius, 1)));
}

// Patterns of values that are not exact are not known. Where elements are joined or split none is.
void BitcastConvert(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  if (Bits(c.operand_type(0)) == Bits(c.result_type())) return Undecided(c);
  c.Give(c.Spread(c.Flag(c.As(radius, RadiusType(c.result_type()))), c.Result()));
}

}  // namespace assay::bound
