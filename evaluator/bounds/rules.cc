// Rules that many ops share, and what rules are made of.
#include "evaluator/bounds/rules.h"

#include <algorithm>
#include <cmath>

#include "evaluator/bounds/numbers.h"
#include "evaluator/registry.h"

namespace assay::bound {
namespace {

// The format of the type, or of its components.
const FloatFormat& FormatOf(ElementType type) {
  return *Info(IsComplex(type) ? ComponentType(type) : type).format;
}

// The largest magnitude that a value of the type can have, in radius type: rounded down.
double LargestOf(ElementType type) {
  if (type == ElementType::kPred) return 1;
  if (!IsIntegral(type)) return FormatOf(type).max_finite;
  const int bits = Bits(type) - (IsSignedIntegral(type) ? 1 : 0);
  return bits <= 24 ? std::ldexp(1, bits) - 1 : std::ldexp(1 - 0x1p-20, bits);
}

// Integers: |v| + r <= the largest; of unsigned types r <= v as well.
void GiveInteger(BoundContext& c, Node spread) {
  if (!spread) return;
  const ElementType type = c.result_type();
  const Node radius = c.Times(c.ConvertTo(spread, RadiusType(type)), Slack(RadiusType(type)));
  Node within = Within(c, radius, c.Result(), type);
  if (IsUnsignedIntegral(type)) {
    within =
        c.Choose(c.Compare("LE", within, c.Magnitude(c.Result())), within, c.Constant(kUnbounded, within));
  }
  // The smallest signed number has no magnitude of its type.
  c.SetRadius(c.Choose(c.Compare("EQ", radius, 0), Node(), within));
}

}  // namespace

double Slack(ElementType radius_type) { return 1 + (radius_type == ElementType::kF64 ? 0x1p-48 : 0x1p-20); }

Node Larger(BoundContext& c, Node a) {
  return !a ? a : c.Times(a, 1 + 4 * (Slack(c.ShapeOf(a).element_type()) - 1));
}

Node OneMinus(BoundContext& c, Node a) { return c.Minus(c.Constant(1, a), a); }

Node Within(BoundContext& c, Node radius, Node value, ElementType type) {
  const Node reach = c.Plus(c.Magnitude(value), radius);
  return c.Choose(c.Compare("LE", reach, LargestOf(type)), radius, c.Constant(kUnbounded, radius));
}

void GiveUnrounded(BoundContext& c, Node spread) {
  if (!spread) return;
  if (!IsFloat(c.result_type()) && !IsComplex(c.result_type())) return GiveInteger(c, spread);
  c.SetRadius(c.Times(c.ConvertTo(spread, RadiusType(c.result_type())), Slack(RadiusType(c.result_type()))));
}

Node Upper(BoundContext& c) {
  const double smallest = FormatOf(c.result_type()).min_subnormal;
  return c.Plus(c.Magnitude(c.Result()), std::max(smallest, 0x1p-149));
}

double UlpOf(ElementType type) { return std::ldexp(1, -FormatOf(type).mantissa_bits); }

void SetRoundedRadius(BoundContext& c, Node spread) {
  SetRoundedRadius(c, spread, c.Allowed(c.result_type()));
}

// The backend has f(x')(1 + e), |e| <= a, where |f(x') - f(x)| <= s, and v = f(x)(1 + h), |h| <= half an ulp:
//   r = s (1 + a) + |v| (a + h) + (the same of the smallest subnormal number, below which ulps do not shrink)
// An ulp is at most 2^-m of its number, m being the stored bits. Where |v| + r leaves the type the backend
// may have an infinity, and nothing is known. A NaN of exact operands is certain.
void SetRoundedRadius(BoundContext& c, Node spread, const Allowance& allowed, Node certain) {
  const ElementType type = c.result_type();
  if (!IsFloat(type) && !IsComplex(type)) return GiveInteger(c, spread);
  if (!spread && allowed.is_correctly_rounded()) return;
  const FloatFormat& format = FormatOf(type);
  const ElementType radius_type = RadiusType(type);
  const double ulp = std::ldexp(1, -format.mantissa_bits), slack = Slack(radius_type);
  const double own = 0.5 * ulp, theirs = allowed.ulps * ulp + allowed.relative;
  // In f32 terms of formulas may have lost as much; constants of the slack's size would vanish beside it.
  const double smallest =
      std::max(format.min_subnormal, radius_type == ElementType::kF64 ? 0x1p-1074 : 0x1p-149);
  const double absolute = (allowed.ulps + 8) * smallest + allowed.absolute;

  const Node magnitude = c.Magnitude(c.Result());
  const Node moved = c.Times(c.ConvertTo(spread, radius_type), (1 + theirs) * slack);
  const double share = (own + theirs) * slack;
  Node within;
  if (type == radius_type) {
    // r is made of all of |v| (1 + 2 a) + s, not of |v| alone: where that is no number
    // of the type r is infinite.
    const Node reach = c.Plus(c.Times(magnitude, 1 + 2 * share), moved);
    const Node rounding = c.Times(reach, share);
    within = c.Plus(c.Plus(moved, rounding), absolute);
    c.AddRounding(rounding, absolute);
  } else {
    within = Within(c, c.Plus(c.Plus(moved, c.Times(magnitude, share)), absolute), c.Result(), type);
  }
  if (certain) {
    within = c.Choose(certain, c.ConvertTo(spread, radius_type), within);
  } else {
    c.SetInfinityIsUndecided();
  }
  // s = 0: the operands of this element are exact, those of others may not be.
  if (spread && IsComplex(type)) {
    const Node is_nan = c.Compare("NE", magnitude, magnitude), is_exact = c.Compare("EQ", spread, 0);
    return c.SetRadius(c.Choose(c.Write(Opcode::kAnd, {is_nan, is_exact}), Node(), within));
  }
  if (spread) return c.SetRadius(within);
  c.SetRadius(c.Choose(c.Compare("EQ", magnitude, magnitude), within, Node()));
}

void Exact(BoundContext&) {}
void NoRule(BoundContext& c) { c.MarkUnchecked("no rule for its bounds yet"); }
void Structure(BoundContext& c) { c.FollowStructure(); }
void Asynchronous(BoundContext& c) { c.FollowStructure(); }
void Mapped(BoundContext& c) {
  if (!c.SamplesMoveOperands()) c.FollowStructure();
}
void EndOfPair(BoundContext& c) { c.FollowElement(1); }

void Received(BoundContext& c) {
  if (!c.attributes().Bool(Attr::kIsHostTransfer))
    c.MarkUnchecked("what another device sends has no bounds yet");
}

void Passed(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  if (IsIntegral(c.result_type())) return GiveUnrounded(c, radius);
  c.SetRadius(c.ConvertTo(radius, RadiusType(c.result_type())));
}

// r = 0 where every operand's is, else +inf.
void Undecided(BoundContext& c) {
  Node any;
  for (size_t k = 0; k < c.view().num_operands(); ++k)
    any = c.Plus(any, c.ConvertTo(c.Radius(k), RadiusType(c.result_type())));
  if (any) c.SetRadius(c.Choose(c.Compare("EQ", any, 0), Node(), c.Constant(kUnbounded, any)));
}

Node WidthOfEnds(BoundContext& c, Node radius) {
  const ElementType type = c.ShapeOf(radius).element_type();
  const double rounding = type == ElementType::kF64 ? 0x1p-51 : 0x1p-22;  // of x + w, above half an ulp
  return c.Plus(c.Times(radius, Slack(type)), c.Times(c.ConvertTo(c.Magnitude(c.Value(0)), type), rounding));
}

// f does not fall: f(x') lies in [f(low), f(high)].
void Stepwise(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (IsComplex(c.result_type())) return ComplexSign(c);
  if (!radius) return;
  c.SetRadius(radius);  // it has one: its ends are not its value alone
  c.SetRadius(c.Choose(c.Compare("EQ", radius, 0), Node(), FartherEnd(c, c.ResultEnds(), c.Result())));
}

// An index that is not decided may have moved anything anywhere.
void Moved(BoundContext& c) {
  if (!c.AnyRadius()) return;
  if (c.view().result().IsTuple()) return c.MarkUnchecked("no rule yet for several arrays at once");
  const size_t operands = c.view().num_operands();
  const size_t count = DefinitionOf(c.view().instruction.opcode).moves.count(operands);
  const ElementType type = RadiusType(c.result_type());
  bool any = false, is_undecided = true;
  for (size_t k = 0; k < count; ++k) {
    any = any || c.Radius(k);
    is_undecided = is_undecided && c.InfinityIsUndecided(k);
  }
  Node flag;
  for (size_t k = count; k < operands; ++k) {
    if (const Node radius = c.Radius(k)) flag = c.Plus(flag, c.Flag(c.ConvertTo(radius, type)));
  }
  if (any && !flag && is_undecided) c.SetInfinityIsUndecided();
  const Node like = flag ? c.Magnitude(c.Result()) : Node();
  Node moved;
  if (any) {
    std::vector<Node> moving;
    for (size_t k = 0; k < operands; ++k) {
      moving.push_back(k < count ? c.OrZero(c.ConvertTo(c.Radius(k), type), c.Magnitude(c.Value(k)))
                                 : c.Value(k));
    }
    moved = c.CloneWith(moving);
  }
  c.SetRadius(flag ? c.Plus(moved, c.Spread(flag, like)) : moved);
}

namespace {

// (operand, result, …) of one array: its radius, and that moved as the array is.
void GiveStart(BoundContext& c, Opcode moves) {
  if (!c.AnyRadius()) return;
  const Node radius = c.Radius(0);
  const Shape& state = c.view().result();
  if (c.view().num_operands() != 1 || !state.element(1).IsArray())
    return c.MarkUnchecked("no rule yet for several arrays at once");
  Instruction move(moves);
  move.attributes = c.attributes();
  Shape shape = state.element(1);
  shape.set_element_type(RadiusType(shape.element_type()));
  move.shape = std::make_shared<const Shape>(std::move(shape));
  move.operands = {radius.id};
  c.SetRadius(radius, 0);
  c.SetRadius(c.Write(std::move(move)), 1);
}

}  // namespace

void AllGatherStart(BoundContext& c) { GiveStart(c, Opcode::kAllGather); }
void CollectivePermuteStart(BoundContext& c) { GiveStart(c, Opcode::kCollectivePermute); }

// Where |a - b| > ra + rb the larger is decided, else r = max(ra, rb),
// by which no maximum of a' and b' is farther away.
Ball Extreme(BoundContext& c, Opcode op, const Ball& a, const Ball& b) {
  const Node value = c.Write(op, {a.value, b.value});
  if (!a.radius && !b.radius) return {value, Node()};
  const ElementType type = c.ShapeOf(value).element_type();
  const Node apart = c.Write(Opcode::kAbs, {c.Minus(a.value, b.value)});
  const Node decided = c.Compare("GT", apart, c.Times(c.Plus(a.radius, b.radius), Slack(type)));
  const Node first = c.Compare(op == Opcode::kMaximum ? "GT" : "LT", a.value, b.value);
  return {value, c.Choose(decided, c.Choose(first, a.radius, b.radius), c.Max(a.radius, b.radius))};
}

std::optional<Opcode> OperationOf(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (computation.parameters.size() != 2 || root.operands.size() != 2) return std::nullopt;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool both =
      (root.operands[0] == a && root.operands[1] == b) || (root.operands[0] == b && root.operands[1] == a);
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return both ? std::optional(root.opcode) : std::nullopt;
    default:
      return std::nullopt;
  }
}

namespace {

// What a predicate of a computation of (a, i, c, j) is where a and c are two numbers, in that order; none
// where it depends on more.
std::optional<bool> DecidedBy(const Computation& computation, int32_t index, bool first_is_larger,
                              int depth = 0) {
  const auto at = [&](int32_t k) -> const Instruction& {
    return computation.instructions[static_cast<size_t>(k)];
  };
  const Instruction& instruction = at(index);
  const auto operand = [&](size_t k) {
    return DecidedBy(computation, instruction.operands[k], first_is_larger, depth + 1);
  };
  if (depth > 16) return std::nullopt;
  switch (instruction.opcode) {
    case Opcode::kNot: {
      const std::optional<bool> inner = operand(0);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case Opcode::kAnd:
    case Opcode::kOr: {
      const bool decisive = instruction.opcode == Opcode::kOr;
      const std::optional<bool> a = operand(0), b = operand(1);
      if (a == decisive || b == decisive) return decisive;
      return a && b ? std::optional(!decisive) : std::nullopt;
    }
    case Opcode::kCompare: {
      const Instruction &x = at(instruction.operands[0]), &y = at(instruction.operands[1]);
      if (x.opcode != Opcode::kParameter || y.opcode != Opcode::kParameter) return std::nullopt;
      const std::string_view direction = instruction.attributes.Text(Attr::kDirection);
      const int64_t p = x.parameter_number, q = y.parameter_number;
      if ((p != 0 && p != 2) || (q != 0 && q != 2)) return std::nullopt;
      if (p == q) return direction == "EQ" || direction == "LE" || direction == "GE";
      if (direction == "EQ" || direction == "NE") return direction == "NE";
      const bool is_larger = (p == 0) == first_is_larger;
      return is_larger == (direction == "GT" || direction == "GE");
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Opcode> ArgExtremeOf(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kTuple || root.operands.size() != 2 || computation.parameters.size() != 4)
    return std::nullopt;
  std::optional<bool> chosen[2];  // the first pair, where its number is the larger one; the smaller one
  for (size_t k = 0; k < 2; ++k) {
    const Instruction& choice = computation.instructions[static_cast<size_t>(root.operands[k])];
    if (choice.opcode != Opcode::kSelect || choice.operands[1] != computation.parameters[k] ||
        choice.operands[2] != computation.parameters[k + 2])
      return std::nullopt;
    for (const bool larger : {true, false}) {
      const std::optional<bool> first = DecidedBy(computation, choice.operands[0], larger);
      std::optional<bool>& known = chosen[larger ? 0 : 1];
      if (!first || (k == 1 && known != first)) return std::nullopt;
      known = first;
    }
  }
  if (*chosen[0] == *chosen[1]) return std::nullopt;
  return *chosen[0] ? Opcode::kMaximum : Opcode::kMinimum;
}

bool Replaces(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  return computation.parameters.size() == 2 && computation.root == computation.parameters[1];
}

}  // namespace assay::bound
