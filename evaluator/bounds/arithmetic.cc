// Arithmetic, comparison, choice and conversion. Below, v is the result, a and b the operands,
// ra and rb their radii.
#include <cmath>

#include "evaluator/bounds/ends.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// The operand as real numbers of radius type, spread over an array like the result where it is a scalar.
Ball BallOf(BoundContext& c, size_t k) {
  const ElementType type = RadiusType(c.result_type());
  Ball ball = {c.ConvertTo(c.Value(k), type), c.ConvertTo(c.Radius(k), type)};
  if (c.view().operand(k).rank() == c.view().result().rank()) return ball;
  ball.value = c.Spread(ball.value, c.Result());
  if (ball.radius) ball.radius = c.Spread(ball.radius, c.Result());
  return ball;
}

// Where the predicate holds the result is exact, whatever the operation is off by elsewhere.
void GiveExactWhere(BoundContext& c, Node predicate) {
  c.SetRadius(c.Choose(predicate, Node(), c.ResultRadius()));
}

// The operand is exactly zero: |a| + ra = 0.
Node IsZero(BoundContext& c, size_t k) {
  return c.Compare("EQ", c.Plus(c.Magnitude(c.Value(k)), c.Radius(k)), 0);
}

// No backend's operand is zero, so it is of one sign (and where it is infinite and has a
// radius, it is so for certain).
Node HasSign(BoundContext& c, size_t k) {
  const Node a = c.Magnitude(c.Value(k));
  return c.Compare("GT", a, c.OrZero(c.Radius(k), a));
}

// A float sum is 0 only where it is exactly 0, since the difference of two numbers that are not equal does
// not underflow to 0. So one of exact operands is 0 with every backend.
void GiveSumOf(BoundContext& c, Node spread, const Allowance& allowed, Node certain) {
  SetRoundedRadius(c, spread, allowed, certain);
  const Node whole = c.Plus(c.Magnitude(c.Result()), c.ConvertTo(spread, RadiusType(c.result_type())));
  GiveExactWhere(c, c.Compare("EQ", whole, 0));
}

// r = ra + rb. With an infinite operand, and another that is not, the sum is it, whatever the radii. Nothing
// is to be compared where an infinite operand's radius says that nothing is known anyway.
void GiveSum(BoundContext& c) {
  const ElementType type = c.result_type();
  if (type == ElementType::kPred) return Undecided(c);
  const Node spread = c.Plus(c.Radius(0), c.Radius(1));
  const Allowance allowed = c.Allowed(type);
  if (!IsFloat(type) || (!spread && allowed.is_correctly_rounded())) return SetRoundedRadius(c, spread);
  Node larger;
  for (size_t k = 0; k < 2; ++k) {
    if (!c.InfinityIsUndecided(k)) larger = c.Max(larger, c.Magnitude(c.Value(k)));
  }
  GiveSumOf(c, spread, allowed, larger ? c.Compare("EQ", larger, kInfinity) : Node());
}

void GiveExtreme(BoundContext& c, Opcode op) {
  if (!c.AnyRadius()) return;
  const ElementType type = c.result_type();
  if (type == ElementType::kPred || IsComplex(type)) return Undecided(c);
  // Large integers are no f32: no comparison of them here.
  if (IsIntegral(type)) return c.SetRadius(c.Max(c.Radius(0), c.Radius(1)));
  const Node radius = Extreme(c, op, BallOf(c, 0), BallOf(c, 1)).radius;
  c.SetRadius(c.MayOverflow(0) || c.MayOverflow(1) ? OrByEnds(c, radius) : radius);
}

// v = trunc(a), or the nearest end of the type, which does not fall: of the ends,
// as exact numbers of the operand's radius type.
void GiveTruncated(BoundContext& c, Node radius) {
  const ElementType type = RadiusType(c.operand_type(0));
  const Ends ends = c.EndsOf(0);
  const Node known = c.Write(Opcode::kAdd, {ends.low, ends.high});
  const auto whole = [&](Node end) { return c.ConvertTo(c.ConvertTo(end, c.result_type()), type); };
  const Node farther = FartherEnd(c, {whole(ends.low), whole(ends.high)}, c.ConvertTo(c.Result(), type));
  const Node moved = c.Choose(c.Compare("EQ", known, known), farther, c.Constant(kInfinity, known));
  const Node result =
      c.ConvertTo(c.Choose(c.Compare("EQ", radius, 0), Node(), moved), RadiusType(c.result_type()));
  c.SetRadius(type == ElementType::kF64 ? c.Times(result, Slack(ElementType::kF32)) : result);
}

// v = (a != 0).
void GiveNonzero(BoundContext& c, Node radius) {
  const Node decided =
      c.Write(Opcode::kOr, {c.Compare("GT", c.Magnitude(c.Value(0)), radius), c.Compare("EQ", radius, 0)});
  c.SetRadius(c.ConvertTo(c.Choose(decided, Node(), c.Constant(1, radius)), ElementType::kF32));
}

// |a'/b' - a/b| = |(a' - a) b - a (b' - b)| / |b b'| <= (ra + |a/b| rb) / (|b| - rb), where rb < |b|.
void GiveQuotient(BoundContext& c) {
  const Node ra = c.Radius(0), rb = c.Radius(1), b = c.Magnitude(c.Value(1));
  if (!rb) return SetRoundedRadius(c, c.Over(ra, b));
  const Node least = c.Minus(c.Times(b, 2 - Slack(RadiusType(c.result_type()))), rb);
  const Node moved = c.Over(c.Plus(ra, c.Times(Upper(c), rb)), least);
  const Node sound = c.Choose(c.Compare("GT", least, 0), moved, c.Constant(kInfinity, moved));
  SetRoundedRadius(c, c.Choose(c.Compare("EQ", c.Plus(ra, rb), 0), Node(), sound));
}

}  // namespace

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

// ||a'| - |a|| <= |a' - a|. Of complex numbers the modulus is rounded.
void Abs(BoundContext& c) {
  if (IsComplex(c.operand_type(0))) return SetRoundedRadius(c, c.Radius(0));
  GiveUnrounded(c, c.Radius(0));
}

void Add(BoundContext& c) { GiveSum(c); }
void Subtract(BoundContext& c) { GiveSum(c); }

// |a'b' - ab| <= |a| rb + |b| ra + ra rb, of a square (2 |a| + ra) ra. What is exactly 0 times a number of
// known sign is exactly 0: of an unknown sign so is the zero's, which a division shows.
void Multiply(BoundContext& c) {
  if (c.result_type() == ElementType::kPred) return Undecided(c);
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1)), ra = c.Radius(0), rb = c.Radius(1);
  const auto& operands = c.view().instruction.operands;
  if (operands[0] == operands[1]) return SetRoundedRadius(c, c.Times(c.Plus(c.Times(a, 2.0), ra), ra));
  SetRoundedRadius(c, c.Plus(c.Times(c.Plus(a, ra), rb), c.Times(b, ra)));
  if (!IsFloat(c.result_type()) || !c.ResultRadius()) return;
  if (!ra && !rb) return GiveExactWhere(c, c.Compare("EQ", c.Write(Opcode::kMinimum, {a, b}), 0));
  const auto vanishes = [&](size_t zero, size_t other) {
    return c.Write(Opcode::kAnd, {IsZero(c, zero), HasSign(c, other)});
  };
  GiveExactWhere(c, c.Write(Opcode::kOr, {vanishes(0, 1), vanishes(1, 0)}));
}

// What is exactly 0 is so divided by a number of known sign.
void Divide(BoundContext& c) {
  if (!IsNumber(c.result_type())) return Undecided(c);
  GiveQuotient(c);
  if (IsFloat(c.result_type()) && c.ResultRadius())
    GiveExactWhere(c, c.Write(Opcode::kAnd, {IsZero(c, 0), HasSign(c, 1)}));
}

// v = a - n b. As long as the whole number n stays: ra + |n| rb,
// where that is less than |v| and than |b| - rb - |v|.
void Remainder(BoundContext& c) {
  if (!IsNumber(c.result_type())) return Undecided(c);
  if (!c.AnyRadius()) return SetRoundedRadius(c, Node());
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1)), v = c.Magnitude(c.Result());
  const Node spread =
      c.Times(c.Plus(c.Radius(0), c.Times(c.Over(a, b), c.Radius(1))), Slack(c.ShapeOf(a).element_type()));
  const Node room = c.Minus(c.Minus(c.Times(b, 2 - Slack(c.ShapeOf(b).element_type())), v), c.Radius(1));
  const Node stays = c.Write(Opcode::kAnd, {c.Compare("LT", spread, v), c.Compare("LT", spread, room)});
  const Node decided = c.Write(Opcode::kOr, {stays, c.Compare("EQ", c.Plus(c.Radius(0), c.Radius(1)), 0)});
  SetRoundedRadius(c, c.Choose(decided, spread, c.Constant(kInfinity, spread)));
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
  const Node radius = Extreme(c, Opcode::kMinimum, larger, BallOf(c, 2)).radius;
  c.SetRadius(c.MayOverflow(1) ? OrByEnds(c, radius) : radius);
}

// Decided where |a - b| > ra + rb, or both are exact; and where all of one interval lies below the other,
// which of values that may overflow says more. Large integers are rounded to f32 before: they need a margin.
// A value with itself: whether it is NaN, which it is not where anything is known (a NaN
// with a finite radius is one for certain).
void Compare(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const auto& operands = c.view().instruction.operands;
  if (operands[0] == operands[1]) {
    const Node radius = c.Radius(0);
    Node known = c.Compare("LT", radius, kInfinity);
    if (c.MayOverflow(0)) {
      const Ends ends = c.EndsOf(0);
      known = c.Write(Opcode::kOr, {known, c.Write(Opcode::kAnd, {c.Compare("EQ", ends.low, ends.low),
                                                                  c.Compare("EQ", ends.high, ends.high)})});
    }
    return c.SetRadius(c.ConvertTo(c.Choose(known, Node(), c.Constant(1, radius)), ElementType::kF32));
  }
  const ElementType type = RadiusType(c.operand_type(0));
  const Node reach = c.Plus(c.Radius(0), c.Radius(1));
  Node apart, margin;
  if (IsComplex(c.operand_type(0))) {
    apart = c.Magnitude(c.Write(Opcode::kSubtract, {c.Value(0), c.Value(1)}));
  } else {
    apart = c.Write(Opcode::kAbs, {c.Minus(c.ConvertTo(c.Value(0), type), c.ConvertTo(c.Value(1), type))});
  }
  if (IsIntegral(c.operand_type(0)))
    margin = c.Times(c.Plus(c.Magnitude(c.Value(0)), c.Magnitude(c.Value(1))), 0x1p-22);
  const Node far = c.Compare("GT", apart, c.Plus(c.Times(reach, Slack(type)), margin));
  Node decided = c.Write(Opcode::kOr, {far, c.Compare("EQ", reach, 0)});
  if (c.MayOverflow(0) || c.MayOverflow(1)) {
    const Ends a = c.EndsOf(0), b = c.EndsOf(1);
    const Node below = c.Compare("LT", a.high, b.low), above = c.Compare("GT", a.low, b.high);
    // An end that is no number makes both ends none.
    decided = c.Write(Opcode::kOr, {decided, c.Write(Opcode::kOr, {below, above})});
  }
  c.SetRadius(c.ConvertTo(c.Choose(decided, Node(), c.Constant(1, reach)), ElementType::kF32));
}

// The chosen side's radius; where it is not decided which that is, what holds both: max(ra, rb) + |a - b|.
void Select(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const Node like = c.Magnitude(c.Value(1)), ra = c.Radius(1), rb = c.Radius(2);
  const Node moved = ra || rb ? c.CloneWith({c.Value(0), c.OrZero(ra, like), c.OrZero(rb, like)}) : Node();
  const Node undecided = c.Radius(0);
  if (!undecided) return c.SetRadius(moved);
  const ElementType type = c.ShapeOf(like).element_type();
  const Node apart =
      IsComplex(c.result_type())
          ? c.Magnitude(c.Write(Opcode::kSubtract, {c.Value(1), c.Value(2)}))
          : c.Write(Opcode::kAbs, {c.Minus(c.ConvertTo(c.Value(1), type), c.ConvertTo(c.Value(2), type))});
  const Node both = c.Times(c.Plus(c.Max(ra, rb), apart), Slack(type));
  const Node chosen = c.Compare("EQ", undecided, 0);
  const bool is_scalar = c.view().operand(0).rank() != c.view().result().rank();
  c.SetRadius(c.Choose(is_scalar ? c.Spread(chosen, like) : chosen, moved, both));
}

// A finite radius leaves no doubt: it does not reach where numbers overflow.
void IsFinite(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const Node one = c.Constant(1, radius);
  c.SetRadius(c.ConvertTo(c.Choose(c.Compare("LT", radius, kInfinity), Node(), one), ElementType::kF32));
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
  if (exact) return GiveUnrounded(c, radius);
  SetRoundedRadius(c, radius);
  if (!IsFloat(from) || !IsFloat(to) || !c.ResultRadius()) return;
  // An exact number of the narrower type stays what it is (masks: the lowest bf16 number in f32).
  // Subnormal ones may be flushed.
  const ElementType wide = RadiusType(from);
  const Node x = c.ConvertTo(c.Value(0), wide), size = c.Magnitude(c.Value(0));
  const Node normal = c.Write(
      Opcode::kOr,
      {c.Compare("EQ", size, 0), c.Compare("GE", size, std::ldexp(1, Info(to).format->min_exponent))});
  Node same = c.Write(Opcode::kAnd, {normal, c.Compare("EQ", c.ConvertTo(c.Result(), wide), x)});
  if (radius) same = c.Write(Opcode::kAnd, {same, c.Compare("EQ", radius, 0)});
  c.SetRadius(c.Choose(same, Node(), c.ResultRadius()));
}

// v = R(a), which is monotone: R(a') lies between R(a - w) and R(a + w). In a type with fewer bits than radii
// R rounds subnormal numbers otherwise than in radius type, in which a backend may keep them: both are asked.
void ReducePrecision(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const ElementType type = c.result_type(), wide = RadiusType(type);
  const Node x = c.ConvertTo(c.Value(0), wide), v = c.ConvertTo(c.Result(), wide),
             width = WidthOfEnds(c, radius);
  Node farthest;
  for (const Node end : {c.Minus(x, width), c.Plus(x, width)}) {
    for (const ElementType in : {wide, type}) {
      Instruction reduced(Opcode::kReducePrecision);
      reduced.attributes = c.attributes();
      reduced.operands = {c.ConvertTo(end, in).id};
      const Node there = c.ConvertTo(c.Write(std::move(reduced)), wide);
      farthest = c.Max(farthest, c.Write(Opcode::kAbs, {c.Minus(v, there)}));
      if (type == wide) break;
    }
  }
  const Node moved = Within(c, c.Times(farthest, Slack(wide)), c.Result(), type);
  c.SetRadius(c.Choose(c.Compare("EQ", radius, 0), Node(), moved));
}

// For each random number a step function of steps of 1.
void StochasticConvert(BoundContext& c) {
  if (c.Radius(1)) return c.MarkUnchecked("random bits that are not exact");
  const Node radius = c.Radius(0);
  if (radius) GiveUnrounded(c, c.Choose(c.Compare("EQ", radius, 0), Node(), c.Plus(radius, 1)));
}

// Patterns of values that are not exact are not known. Where elements are joined or split none is. Of numbers
// of one sign, neither zero nor NaN, patterns are in the order of magnitudes:
// floats as integers lie between those of the ends.
void BitcastConvert(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const ElementType from = c.operand_type(0), to = c.result_type();
  if (Bits(from) != Bits(to))
    return c.SetRadius(c.Spread(c.Flag(c.ConvertTo(radius, RadiusType(to))), c.Result()));
  if (!IsFloat(from) || !IsIntegral(to) || (from != ElementType::kF32 && from != ElementType::kF64))
    return Undecided(c);
  const Ends ends = c.EndsOf(0);
  const auto bits = [&](Node end) {
    Instruction bitcast(Opcode::kBitcastConvert);
    bitcast.shape = std::make_shared<const Shape>(c.view().result());
    bitcast.operands = {end.id};
    return c.ConvertTo(c.Write(std::move(bitcast)), RadiusType(to));
  };
  const Node one_sign = c.Write(Opcode::kOr, {c.Compare("GT", ends.low, 0), c.Compare("LT", ends.high, 0)});
  const Node low = bits(ends.low), high = bits(ends.high);
  // The integers are rounded to radius type.
  const Node apart = c.Plus(c.Write(Opcode::kAbs, {c.Minus(low, high)}), c.Times(c.Magnitude(low), 0x1p-21));
  const Node known = c.Choose(one_sign, apart, c.Constant(kInfinity, apart));
  c.SetRadius(c.Choose(c.Compare("EQ", c.ConvertTo(radius, RadiusType(to)), 0), Node(), known));
}

// A move, or a bitcast-convert of an array of the same sizes; else the elements of
// other types are made of any.
void Bitcast(BoundContext& c) {
  const Shape &from = c.view().operand(0), &to = c.view().result();
  if (from.element_type() == to.element_type()) return Moved(c);
  if (Shape::SameDimensions(from, to)) return BitcastConvert(c);
  if (const Node radius = c.Radius(0))
    c.SetRadius(c.Spread(c.Flag(c.ConvertTo(radius, RadiusType(to.element_type()))), c.Result()));
}

// With an exact mask of all bits below the sign: x is turned around within the numbers of its sign, to -1 - x
// and a constant, as far as it keeps it (orders of floats by their bits).
void Xor(BoundContext& c) {
  const ElementType type = c.result_type();
  const bool first = static_cast<bool>(c.Radius(0)), second = static_cast<bool>(c.Radius(1));
  if (!IsSignedIntegral(type) || Bits(type) < 8 || first == second) return Undecided(c);
  const size_t k = first ? 0 : 1;
  const int64_t mask = static_cast<int64_t>((uint64_t{1} << (Bits(type) - 1)) - 1);
  const Literal literal = Literal::ScalarInt(type, mask);
  Instruction constant(Opcode::kConstant);
  constant.shape = std::make_shared<const Shape>(Shape::Scalar(type));
  constant.literal = std::make_shared<const Literal>(literal);
  const Node all = c.Spread(c.Write(std::move(constant)), c.Result());
  const Node turns = c.Compare("EQ", c.Value(1 - k), all);
  const Node reach = c.Times(c.Magnitude(c.Value(k)), 1 - 0x1p-20);
  const Node stays = c.Write(Opcode::kAnd, {turns, c.Compare("LT", c.Radius(k), reach)});
  const Node moved =
      c.Choose(stays, c.Times(c.Radius(k), Slack(ElementType::kF32)), c.Constant(kInfinity, c.Radius(k)));
  c.SetRadius(c.Choose(c.Compare("EQ", c.Radius(k), 0), Node(), moved));
}

}  // namespace assay::bound
