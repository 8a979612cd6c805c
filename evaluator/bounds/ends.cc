// Intervals beside balls. Where a value may overflow its radius is +inf, and yet one end is known: -max - x
// lies in [-inf, -max + |x|], and e to it is 0. And results of steps are the image of an interval, which is
// narrower than any ball around them.
//
// Each rule is interval arithmetic with ends rounded outwards: an end E of the real result of what the
// operands can be becomes E -+ (|E| (a + 2^-20) + the absolute allowance), a being what the backend may be
// off by, and infinite where it leaves the type. An end that is NaN says that nothing is known; sums and
// products of infinite ends make NaNs by themselves wherever the value could be one, since an interval from
// -inf to +inf is taken for unknown.
#include "evaluator/bounds/ends.h"

#include <cmath>
#include <limits>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Ends ThroughMove(BoundContext& c) {
  const Ends e = c.EndsOf(0);
  return {c.CloneWith({e.low}), c.CloneWith({e.high})};
}

Node IsNumber(BoundContext& c, Node a) { return c.Compare("EQ", a, a); }

// What lies in both intervals, where both are known, else in the one that is.
Ends InBoth(BoundContext& c, const Ends& a, const Ends& b) {
  const auto end = [&](Opcode op, Node x, Node y) {
    return c.Choose(IsNumber(c, x), c.Choose(IsNumber(c, y), c.Write(op, {x, y}), x), y);
  };
  return {end(Opcode::kMaximum, a.low, b.low), end(Opcode::kMinimum, a.high, b.high)};
}

// The real result lies in [low, high]: what a backend makes of it. After cancellation its ball says more,
// since the rounding of the operands' ends is a share of numbers that are larger than the result.
Ends Rounded(BoundContext& c, Node low, Node high) {
  const ElementType type = c.result_type(), radius_type = RadiusType(type);
  const FloatFormat& format = *Info(type).format;
  const Allowance allowed = c.Allowed(type);
  const double share = allowed.ulps * UlpOf(type) + allowed.relative + 4 * (Slack(radius_type) - 1);
  const double smallest =
      std::max(format.min_subnormal, radius_type == ElementType::kF64 ? 0x1p-1074 : 0x1p-149);
  const double absolute = (allowed.ulps + 8) * smallest + allowed.absolute;
  // [-inf, inf] is unknown: inf - inf is no number. What lies beyond the largest number may come back to
  // it by the backend's error.
  const Node known = IsNumber(c, c.Write(Opcode::kAdd, {low, high}));
  low = c.Min(low, format.max_finite);
  high = c.Write(Opcode::kMaximum, {high, c.Constant(-format.max_finite, high)});
  const auto room = [&](Node end) {
    return c.Plus(c.Times(c.Min(c.Write(Opcode::kAbs, {end}), format.max_finite), share), absolute);
  };
  low = c.Minus(low, room(low));
  high = c.Plus(high, room(high));
  if (type != radius_type) {
    low = c.Choose(c.Compare("LT", low, -format.max_finite), c.Constant(-kInfinity, low), low);
    high = c.Choose(c.Compare("GT", high, format.max_finite), c.Constant(kInfinity, high), high);
  }
  const Node unknown = c.Constant(kNaN, low);
  const Ends ends = {c.Choose(known, low, unknown), c.Choose(known, high, unknown)};
  if (!c.ResultRadius()) return ends;
  const Ends ball = EndsOfBall(c, c.Result(), c.ResultRadius(), type);
  // A radius leaves out the last rounding to the type, of a result that was kept unrounded until then.
  const auto last = [&](Node end) {
    return c.Plus(c.Times(c.Write(Opcode::kAbs, {end}), std::max(share, 2 * UlpOf(type))), absolute);
  };
  return InBoth(c, ends, {c.Minus(ball.low, last(ball.low)), c.Plus(ball.high, last(ball.high))});
}

Ends OfSum(BoundContext& c, bool is_difference) {
  const Ends a = c.EndsOf(0), b = c.EndsOf(1);
  if (is_difference) return Rounded(c, c.Minus(a.low, b.high), c.Minus(a.high, b.low));
  return Rounded(c, c.Write(Opcode::kAdd, {a.low, b.low}), c.Write(Opcode::kAdd, {a.high, b.high}));
}

// By an exact number b, neither zero nor infinite: the two products, in order.
Ends OfScaled(BoundContext& c, size_t scaled, Node by) {
  const Ends a = c.EndsOf(scaled);
  const Node b = c.ConvertTo(by, c.ShapeOf(a.low).element_type()), size = c.Magnitude(b);
  const Node usable = c.Write(Opcode::kAnd, {c.Compare("GT", size, 0), c.Compare("LT", size, kInfinity)});
  const Node factor = c.Choose(usable, b, c.Constant(kNaN, b));
  const Opcode op = c.view().instruction.opcode;
  const Node x = c.Write(op, {a.low, factor}), y = c.Write(op, {a.high, factor});
  return Rounded(c, c.Write(Opcode::kMinimum, {x, y}), c.Write(Opcode::kMaximum, {x, y}));
}

Ends Spread(BoundContext& c, const Ends& e) {
  const Shape& result = c.view().result();
  if (c.ShapeOf(e.low).rank() == result.rank()) return e;
  const Node like = c.Result();
  return {c.Spread(e.low, like), c.Spread(e.high, like)};
}

Ends OfExtreme(BoundContext& c, Opcode op, const Ends& a, const Ends& b) {
  return {c.Write(op, {a.low, b.low}), c.Write(op, {a.high, b.high})};
}

Ends OfClamp(BoundContext& c) {
  const Ends floor = Spread(c, c.EndsOf(0)), ceiling = Spread(c, c.EndsOf(2));
  return OfExtreme(c, Opcode::kMinimum, OfExtreme(c, Opcode::kMaximum, c.EndsOf(1), floor), ceiling);
}

// One side, or what holds both.
Ends OfSelect(BoundContext& c) {
  const Ends a = c.EndsOf(1), b = c.EndsOf(2);
  const Node low = c.CloneWith({c.Value(0), a.low, b.low}), high = c.CloneWith({c.Value(0), a.high, b.high});
  const Node undecided = c.Radius(0);
  if (!undecided) return {low, high};
  Node chosen = c.Compare("EQ", undecided, 0);
  if (c.view().operand(0).rank() != c.view().result().rank()) chosen = c.Spread(chosen, c.Result());
  return {c.Choose(chosen, low, c.Write(Opcode::kMinimum, {a.low, b.low})),
          c.Choose(chosen, high, c.Write(Opcode::kMaximum, {a.high, b.high}))};
}

Ends OfStep(BoundContext& c) {
  const Ends e = c.EndsOf(0);
  const Opcode op = c.view().instruction.opcode;
  return {c.Write(op, {e.low}), c.Write(op, {e.high})};
}

// Conversions from floats truncate and saturate. Integers beyond 2^24 are no f32.
Ends OfConvertToInteger(BoundContext& c) {
  const ElementType type = c.result_type(), wide = RadiusType(c.operand_type(0)), to = RadiusType(type);
  const Ends e = c.EndsOf(0);
  const Node known = IsNumber(c, c.Write(Opcode::kAdd, {e.low, e.high}));
  const auto end = [&](Node of, double outwards) {
    const Node whole = c.ConvertTo(c.ConvertTo(c.ConvertTo(of, type), wide), to);
    const Node beyond = c.Plus(whole, c.Times(c.Magnitude(whole), outwards));
    const Node near = c.Compare("LE", c.Magnitude(whole), 0x1p24);
    return c.Choose(known, c.Choose(near, whole, beyond), c.Constant(kNaN, whole));
  };
  return {end(e.low, -0x1p-22), end(e.high, 0x1p-22)};
}

Ends OfConvert(BoundContext& c) {
  const ElementType from = c.operand_type(0), to = c.result_type();
  if (to == ElementType::kPred || from == ElementType::kPred || IsComplex(from))
    return EndsOfBall(c, c.Result(), c.ResultRadius(), to);
  if (IsIntegral(to) && IsFloat(from)) return OfConvertToInteger(c);
  const Ends e = c.EndsOf(0);
  const ElementType type = RadiusType(to);
  if (IsFloat(to)) return Rounded(c, c.ConvertTo(e.low, type), c.ConvertTo(e.high, type));
  return EndsOfBall(c, c.Result(), c.ResultRadius(), to);
}

}  // namespace

bool IsStep(Opcode op) {
  switch (op) {
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
      return true;
    default:
      return false;
  }
}

bool PassesEnds(Opcode op) {
  switch (op) {
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kCopy:
      return true;
    default:
      return false;
  }
}

EndsSource OverflowOf(const InstructionView& view) {
  if (!view.result().IsArray() || !IsFloat(view.result().element_type())) return {};
  const Opcode op = view.instruction.opcode;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return {true, {}};
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return {false, {0, 1}};
    case Opcode::kSelect:
      return {false, {1, 2}};
    case Opcode::kClamp:
      return {false, {1}};
    case Opcode::kNegate:
    case Opcode::kConvert:
      return {false, {0}};
    default:
      return PassesEnds(op) ? EndsSource{false, {0}} : EndsSource{};
  }
}

EndsSource ImageOf(const InstructionView& view) {
  const Opcode op = view.instruction.opcode;
  if (!view.result().IsArray() || IsComplex(view.result().element_type())) return {};
  if (IsStep(op)) return {true, {}};
  switch (op) {
    case Opcode::kConvert:
      return {IsIntegral(view.result().element_type()) && IsFloat(view.operand(0).element_type()), {0}};
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return {false, {0, 1}};
    case Opcode::kClamp:
      return {false, {1}};
    case Opcode::kNegate:
      return {false, {0}};
    default:
      return PassesEnds(op) ? EndsSource{false, {0}} : EndsSource{};
  }
}

Ends EndsOfBall(BoundContext& c, Node value, Node radius, ElementType type) {
  const ElementType radius_type = RadiusType(type);
  const Node x = c.ConvertTo(value, radius_type);
  const bool is_rounded = IsIntegral(type) && Bits(type) > 24;  // as numbers of radius type
  const double rounding = radius_type == ElementType::kF64 ? 0x1p-51 : 0x1p-22;
  if (!radius && !is_rounded) return {x, x};
  const Node noise = c.Times(c.Magnitude(x), rounding);
  if (!radius) return {c.Minus(x, noise), c.Plus(x, noise)};
  const Node r = c.ConvertTo(radius, radius_type), wide = c.Plus(c.Times(r, Slack(radius_type)), noise);
  Node width = is_rounded ? wide : c.Choose(c.Compare("EQ", r, 0), Node(), wide);
  width = c.Plus(width, c.Write(Opcode::kMultiply, {r, c.Constant(0, r)}));  // NaN of inf
  return {c.Minus(x, width), c.Plus(x, width)};
}

Ends EndsByRule(BoundContext& c) {
  const ElementType type = c.result_type();
  const auto ball = [&] { return EndsOfBall(c, c.Result(), c.ResultRadius(), type); };
  const Opcode op = c.view().instruction.opcode;
  if (PassesEnds(op)) return ThroughMove(c);
  if (op == Opcode::kConvert) return OfConvert(c);
  if (!IsFloat(type)) {
    const bool is_extreme = op == Opcode::kMaximum || op == Opcode::kMinimum || op == Opcode::kClamp;
    if (!is_extreme || type == ElementType::kPred || Bits(type) > 24) return ball();
  }
  if (IsStep(op)) return OfStep(c);
  switch (op) {
    case Opcode::kAdd:
      return OfSum(c, false);
    case Opcode::kSubtract:
      return OfSum(c, true);
    case Opcode::kNegate: {
      const Ends e = c.EndsOf(0);
      return {c.Write(Opcode::kNegate, {e.high}), c.Write(Opcode::kNegate, {e.low})};
    }
    case Opcode::kMultiply:
      if (!c.Radius(1)) return OfScaled(c, 0, c.Value(1));
      if (!c.Radius(0)) return OfScaled(c, 1, c.Value(0));
      return ball();
    case Opcode::kDivide:
      return c.Radius(1) ? ball() : OfScaled(c, 0, c.Value(1));
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return OfExtreme(c, op, c.EndsOf(0), c.EndsOf(1));
    case Opcode::kClamp:
      return OfClamp(c);
    case Opcode::kSelect:
      return OfSelect(c);
    default:
      return ball();
  }
}

Node FartherEnd(BoundContext& c, const Ends& ends, Node value) {
  const Node v = c.ConvertTo(value, c.ShapeOf(ends.low).element_type());
  const Node farther = c.Write(Opcode::kMaximum, {c.Minus(v, ends.low), c.Minus(ends.high, v)});
  const Node known = IsNumber(c, farther);
  const Node same = c.Compare("EQ", ends.low, ends.high);
  const Node slack = c.Times(farther, Slack(c.ShapeOf(v).element_type()));
  return c.Choose(same, Node(), c.Choose(known, slack, c.Constant(kInfinity, slack)));
}

Node OrByEnds(BoundContext& c, Node radius) {
  c.SetRadius(radius);
  const Node known = c.Compare("LT", radius, kInfinity);
  return c.Choose(known, radius, FartherEnd(c, c.ResultEnds(), c.Result()));
}

}  // namespace assay::bound
