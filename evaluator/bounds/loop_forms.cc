// Of a function f the difference f(x + d) - f(x) is f'(x) d and a second-order part, which is at most sup
// |f''| r^2 / 2 over [x - r, x + r]; the formulas of it stand at each op. Below, v is the result, and r the
// radius of its operand.
#include "evaluator/bounds/loop_forms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/scalar_function.h"

namespace assay::bound {
namespace {

// Tangents of more numbers are not worth their time.
constexpr int64_t kMaxTangents = 1 << 16;

DimVector BehindSymbols(std::span<const int64_t> dimensions) {
  DimVector shifted;
  for (const int64_t d : dimensions) shifted.push_back(d + 1);
  return shifted;
}

std::shared_ptr<const Shape> WithSymbols(const Shape& array, ElementType type, int64_t symbols) {
  DimVector sizes = {symbols};
  for (const int64_t size : array.sizes()) sizes.push_back(size);
  return std::make_shared<const Shape>(Shape::ArrayOrDie(type, sizes));
}

Node RadiusOf(BoundContext& c, size_t k) {
  const Node radius = c.Radius(k);
  return radius ? radius : c.Constant(0, c.Value(k));
}

// What d is off the tangents by.
Node RestOf(BoundContext& c, size_t k) {
  const LoopForm form = c.LoopFormOf(k);
  return form ? form.rest : c.Radius(k);
}

// The most steps of the operands' forms.
int MostSteps(BoundContext& c) {
  int steps = 0;
  for (size_t k = 0; k < c.view().num_operands(); ++k) steps = std::max(steps, c.LoopFormOf(k).steps);
  return steps;
}

// Slopes of the operands; none: 1.
struct Part {
  size_t operand;
  Node slope;
  bool is_negative = false;
};

// sum_k slope_k d_k, and what is beyond. Rests are independent of each other, also two of one operand: a
// backend may compute an operand anew for each of its readers. Slopes that underflow are off by a few
// smallest numbers, whatever their own size.
LoopForm LoopFormOfParts(BoundContext& c, std::initializer_list<Part> parts, Node beyond) {
  Node tangents, total, rest = beyond;
  const double tiny = 8 * Info(c.result_type()).format->min_subnormal;
  for (const Part& part : parts) {
    const Node own = RestOf(c, part.operand), size = part.slope ? c.Magnitude(part.slope) : Node();
    rest = c.Plus(rest, size ? c.Times(own, size) : own);
    if (size) rest = c.Plus(rest, c.Times(c.Radius(part.operand), tiny));
    const LoopForm form = c.LoopFormOf(part.operand);
    if (!form) continue;
    Node moved = size ? c.Times(form.tangents, OverSymbols(c, part.slope, form.tangents)) : form.tangents;
    if (part.is_negative) moved = c.Write(Opcode::kNegate, {moved});
    tangents = c.Plus(tangents, moved);
    total = c.Plus(total, size ? c.Times(form.total, size) : form.total);
  }
  return {tangents, rest, total};
}

// slope d + at most (curvature r + error) r
LoopForm LoopFormOfFunction(BoundContext& c, Node slope, double curvature, double error, Node rounding) {
  const Node r = RadiusOf(c, 0);
  const Node second = c.Times(r, c.Plus(c.Times(r, curvature), error));
  return LoopFormOfParts(c, {{0, slope}}, c.Plus(rounding, second));
}

// a'/b' - a/b = (d_a - v d_b) / b - (d_a - v d_b) d_b / (b b')
LoopForm LoopFormOfQuotient(BoundContext& c, Node rounding) {
  const Node b = c.Value(1), v = c.Result(), ra = RadiusOf(c, 0), rb = RadiusOf(c, 1);
  const Node inverse = c.Over(c.Constant(1, b), b);
  const Node slope = c.Write(Opcode::kNegate, {c.Times(v, inverse)});
  const Node size = c.Magnitude(b),
             least = c.Minus(c.Times(size, 2 - Slack(c.ShapeOf(b).element_type())), rb);
  const Node linear = c.Plus(ra, c.Times(Upper(c), rb));
  const Node second = Larger(c, c.Over(c.Over(c.Times(linear, rb), size), least));
  return LoopFormOfParts(c, {{0, inverse}, {1, slope}},
                         c.Plus(rounding, KnownWhere(c, c.Compare("GT", least, 0), second)));
}

// e^x (e^r - 1 - r) <= 0.72 e^x r^2 for r <= 1
LoopForm LoopFormOfExp(BoundContext& c, Node rounding) {
  const Node r = RadiusOf(c, 0);
  const Node second = c.Times(c.Times(Upper(c), 0.72), c.Times(r, r));
  return LoopFormOfParts(c, {{0, c.Result()}},
                         c.Plus(rounding, KnownWhere(c, c.Compare("LE", r, 1), second)));
}

// With q = r / |x| < 1/2: |log(1 + t) - t| <= q^2 / (2 (1 - q)) <= q^2 for |t| <= q.
LoopForm LoopFormOfLog(BoundContext& c, Node rounding) {
  const Node x = c.Value(0), q = Larger(c, c.Over(RadiusOf(c, 0), c.Magnitude(x)));
  const Node second = KnownWhere(c, c.Compare("LT", q, 0.5), c.Times(q, q));
  return LoopFormOfParts(c, {{0, c.Over(c.Constant(1, x), x)}}, c.Plus(rounding, second));
}

// With q = r / x < 1/2. sqrt: v q^2 / 8 (1 - q)^(-3/2) <= v q^2 / 2; rsqrt: v 3/8 q^2 (1 - q)^(-5/2) <= 2.2
// v q^2.
LoopForm LoopFormOfRoot(BoundContext& c, bool is_inverse, Node rounding) {
  const Node x = c.Value(0), q = Larger(c, c.Over(RadiusOf(c, 0), x));
  const Node known = c.Write(Opcode::kAnd, {c.Compare("LT", q, 0.5), c.Compare("GT", x, 0)});
  const Node second = KnownWhere(c, known, c.Times(c.Times(Upper(c), is_inverse ? 2.2 : 0.5), c.Times(q, q)));
  const Node slope = c.Times(c.Over(c.Result(), x), is_inverse ? -0.5 : 0.5);
  return LoopFormOfParts(c, {{0, slope}}, c.Plus(rounding, second));
}

// The operand that is the larger (smaller) one for certain; elsewhere what the radius says.
LoopForm LoopFormOfExtreme(BoundContext& c, Opcode op) {
  const Node a = c.Value(0), b = c.Value(1), zero = c.Constant(0, a), one = c.Constant(1, a);
  const Node reach = Larger(c, c.Plus(RadiusOf(c, 0), RadiusOf(c, 1)));
  const Node decided = c.Compare("GT", Absolute(c, c.Minus(a, b)), reach);
  const Node first = c.Compare(op == Opcode::kMaximum ? "GT" : "LT", a, b);
  const Node of_a = c.Choose(c.Write(Opcode::kAnd, {decided, first}), one, zero);
  const Node of_b = c.Choose(c.Write(Opcode::kAnd, {decided, c.Write(Opcode::kNot, {first})}), one, zero);
  return LoopFormOfParts(c, {{0, of_a}, {1, of_b}}, c.Choose(decided, zero, c.ResultRadius()));
}

LoopForm LoopFormOfAbs(BoundContext& c) {
  const Node x = c.Value(0), decided = c.Compare("GT", c.Magnitude(x), RadiusOf(c, 0));
  const Node slope = c.Choose(decided, c.Write(Opcode::kSign, {x}), c.Constant(0, x));
  return LoopFormOfParts(c, {{0, slope}}, c.Choose(decided, c.Constant(0, x), c.ResultRadius()));
}

// Where the predicate is exact, of arrays.
LoopForm LoopFormOfSelect(BoundContext& c) {
  if (c.Radius(0) || c.view().operand(0).rank() != c.view().result().rank()) return {};
  const LoopForm a = c.LoopFormOf(1), b = c.LoopFormOf(2);
  const Node which = c.Value(0), like = a ? a.tangents : b.tangents;
  return {c.Choose(OverSymbols(c, which, like), a.tangents, b.tangents),
          c.Choose(which, c.OrZero(RestOf(c, 1), c.Result()), c.OrZero(RestOf(c, 2), c.Result())),
          c.Choose(which, c.OrZero(a.total, c.Result()), c.OrZero(b.total, c.Result()))};
}

bool IsMove(Opcode op) {
  return op == Opcode::kReshape || op == Opcode::kBroadcast || op == Opcode::kTranspose ||
         op == Opcode::kSlice || op == Opcode::kConcatenate;
}

// Elements that move, with the instruction's attributes for one dimension more in front. Nothing is rounded.
LoopForm LoopFormOfMove(BoundContext& c) {
  const Instruction& from = c.view().instruction;
  const size_t operands = c.view().num_operands();
  const ElementType type = c.result_type();
  int64_t symbols = 0;
  for (size_t k = 0; k < operands; ++k) {
    if (const LoopForm form = c.LoopFormOf(k)) symbols = SymbolsOf(c, form.tangents);
  }
  Instruction moved(from.opcode);
  moved.attributes = c.attributes();
  moved.shape = WithSymbols(c.view().result(), type, symbols);
  DimVector dimensions = BehindSymbols(c.attributes().List(Attr::kDimensions));
  if (from.opcode == Opcode::kBroadcast || from.opcode == Opcode::kTranspose)
    dimensions.insert(dimensions.begin(), 0);
  if (from.opcode == Opcode::kSlice) {
    SliceConfig parts = *std::get_if<SliceConfig>(c.attributes().Find(Attr::kSlice));
    parts.insert(parts.begin(), {0, symbols, 1});
    moved.attributes.Set(Attr::kSlice, std::move(parts));
  } else if (from.opcode != Opcode::kReshape) {
    moved.attributes.Set(Attr::kDimensions, Ints(dimensions.begin(), dimensions.end()));
  }
  const int steps = MostSteps(c);
  std::vector<Node> rests, totals;
  for (size_t k = 0; k < operands; ++k) {
    const LoopForm form = c.LoopFormOf(k);
    Node tangents = form.tangents;
    if (!form) {
      Instruction none(Opcode::kBroadcast);
      none.attributes.Set(Attr::kDimensions, Ints{});
      none.shape = WithSymbols(c.view().operand(k), type, symbols);
      none.operands = {c.Scalar(type, 0).id};
      tangents = c.Write(std::move(none));
    }
    moved.operands.push_back(tangents.id);
    rests.push_back(c.OrZero(form ? form.rest : c.Radius(k), c.Value(k)));
    totals.push_back(c.OrZero(form.total, c.Value(k)));
  }
  return {c.Write(std::move(moved)), c.CloneWith(rests), c.CloneWith(totals), steps};
}

LoopForm LoopFormOfReduce(BoundContext& c, Node rounding) {
  const ComputationId reducer = *c.attributes().Computation(Attr::kToApply);
  const bool is_sum = c.view().num_operands() == 2 &&
                      (IsExactSum(c.module(), reducer) || OperationOf(c.module(), reducer) == Opcode::kAdd);
  if (!is_sum || c.Radius(1)) return {};
  const LoopForm form = c.LoopFormOf(0);
  const auto dimensions = c.attributes().List(Attr::kDimensions);
  const auto sum = [&](Node of) { return c.Reduced(Opcode::kAdd, of, dimensions); };
  return {c.Reduced(Opcode::kAdd, form.tangents, BehindSymbols(dimensions)), c.Plus(sum(form.rest), rounding),
          sum(form.total)};
}

// d(A B) = dA B + A dB + dA dB. The dimension of the symbols is a free one of its operand.
LoopForm LoopFormOfDot(BoundContext& c, Node rounding) {
  const AttributeMap& attributes = c.attributes();
  const auto batch = static_cast<int64_t>(attributes.List(Attr::kLhsBatchDims).size());
  const auto contracting = static_cast<int64_t>(attributes.List(Attr::kLhsContractingDims).size());
  const int64_t left_free = c.view().operand(0).rank() - batch - contracting;
  const auto tangents_of = [&](size_t side) -> Node {
    const LoopForm form = c.LoopFormOf(side);
    if (!form) return Node();
    Instruction dot(Opcode::kDot);
    dot.attributes = attributes;
    const std::array<Attr, 2> own = {side == 0 ? Attr::kLhsBatchDims : Attr::kRhsBatchDims,
                                     side == 0 ? Attr::kLhsContractingDims : Attr::kRhsContractingDims};
    for (const Attr attr : own) {
      const DimVector shifted = BehindSymbols(attributes.List(attr));
      if (!shifted.empty()) dot.attributes.Set(attr, Ints(shifted.begin(), shifted.end()));
    }
    if (side == 0) {
      dot.operands = {form.tangents.id, c.Value(1).id};
    } else {
      dot.operands = {c.Value(0).id, form.tangents.id};
    }
    const int64_t place = side == 0 ? batch : batch + left_free;
    const Shape whole = *WithSymbols(c.view().result(), c.result_type(), SymbolsOf(c, form.tangents));
    DimVector sizes, permutation = {place};
    for (int64_t d = 0; d < whole.rank(); ++d) {
      sizes.push_back(whole.size(d == place ? 0 : d < place ? d + 1 : d));
      if (d != place) permutation.push_back(d);
    }
    dot.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(c.result_type(), sizes));
    const Node product = c.Write(std::move(dot));
    if (place == 0) return product;
    Instruction transpose(Opcode::kTranspose);
    transpose.attributes.Set(Attr::kDimensions, Ints(permutation.begin(), permutation.end()));
    transpose.operands = {product.id};
    return c.Write(std::move(transpose));
  };
  const Node a = c.Magnitude(c.Value(0)), b = c.Magnitude(c.Value(1));
  // Of each operand rest and total together: the rounding of both is in the rest of the product.
  const auto rest_of = [&](size_t k) {
    const LoopForm form = c.LoopFormOf(k);
    return form ? Settled(c, form).rest : c.Radius(k);
  };
  Node rest = rounding;
  if (const Node own = rest_of(1)) rest = c.Plus(rest, c.CloneWith({a, own}));
  if (const Node own = rest_of(0)) rest = c.Plus(rest, c.CloneWith({own, b}));
  if (c.Radius(0) && c.Radius(1)) rest = c.Plus(rest, c.CloneWith({c.Radius(0), c.Radius(1)}));
  const Node tangents = c.Plus(tangents_of(0), tangents_of(1));
  return {tangents, rest, SumOverSymbols(c, tangents)};
}

// What an instruction that rounds is off by itself is told by its rule, or there is no form.
LoopForm LoopFormOfOperands(BoundContext& c, Node rounding) {
  const Opcode op = c.view().instruction.opcode;
  const bool is_exact = op == Opcode::kNegate || op == Opcode::kMaximum || op == Opcode::kMinimum ||
                        op == Opcode::kAbs || op == Opcode::kSelect;
  if (!is_exact && !rounding) return {};
  const double error = 8 * UlpOf(c.result_type());  // of slopes that are made of v
  const Node v = c.Result();
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return LoopFormOfParts(c, {{0, Node()}, {1, Node(), op == Opcode::kSubtract}}, rounding);
    case Opcode::kNegate:
      return LoopFormOfParts(c, {{0, Node(), true}}, rounding);
    case Opcode::kMultiply:
      return LoopFormOfParts(c, {{0, c.Value(1)}, {1, c.Value(0)}},
                             c.Plus(rounding, c.Times(c.Radius(0), c.Radius(1))));
    case Opcode::kDivide:
      return LoopFormOfQuotient(c, rounding);
    case Opcode::kTanh:  // sup |f''| = 0.7699
      return LoopFormOfFunction(c, OneMinus(c, c.Times(v, v)), 0.385, error, rounding);
    case Opcode::kLogistic:  // sup |f''| = 0.0963
      return LoopFormOfFunction(c, c.Times(v, OneMinus(c, v)), 0.0482, error, rounding);
    case Opcode::kSin:
      return LoopFormOfFunction(c, c.Write(Opcode::kCos, {c.Value(0)}), 0.5, error, rounding);
    case Opcode::kCos:
      return LoopFormOfFunction(c, c.Write(Opcode::kNegate, {c.Write(Opcode::kSin, {c.Value(0)})}), 0.5,
                                error, rounding);
    case Opcode::kExp:
      return LoopFormOfExp(c, rounding);
    case Opcode::kLog:
      return LoopFormOfLog(c, rounding);
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
      return LoopFormOfRoot(c, op == Opcode::kRsqrt, rounding);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return LoopFormOfExtreme(c, op);
    case Opcode::kAbs:
      return LoopFormOfAbs(c);
    case Opcode::kSelect:
      return LoopFormOfSelect(c);
    case Opcode::kReduce:
      return LoopFormOfReduce(c, rounding);
    case Opcode::kDot:
      return LoopFormOfDot(c, rounding);
    default:
      return {};
  }
}

}  // namespace

int64_t SymbolsOf(BoundContext& c, Node tangents) { return c.ShapeOf(tangents).size(0); }

Node Absolute(BoundContext& c, Node a) { return c.Write(Opcode::kAbs, {a}); }

Node OverSymbols(BoundContext& c, Node a, Node tangents) {
  DimVector dimensions;
  for (int64_t d = 1; d <= c.ShapeOf(a).rank(); ++d) dimensions.push_back(d);
  return c.SpreadAlong(a, dimensions, tangents);
}

Node KnownWhere(BoundContext& c, Node predicate, Node a) {
  return c.Choose(predicate, a, c.Constant(kInfinity, a));
}

Node SumOverSymbols(BoundContext& c, Node tangents) {
  const int64_t symbols[] = {0};
  return c.Reduced(Opcode::kAdd, Absolute(c, tangents), symbols);
}

// In a step tangents, rests and totals are products and sums of some, each of which is rounded less than 16
// times: by 16 units of the total, or of the rest.
LoopForm Settled(BoundContext& c, const LoopForm& form) {
  if (form.steps == 0) return form;
  const double share = form.steps * (Slack(c.ShapeOf(form.rest).element_type()) - 1);
  return {form.tangents, c.Plus(c.Times(form.rest, 1 + share), c.Times(form.total, share)), form.total};
}

void GiveLoopForm(BoundContext& c, bool sharpens) {
  const ElementType type = c.result_type();
  if (!c.ResultRadius() || !c.AnyLoopForm() || !IsFloat(type) || RadiusType(type) != type) return;
  for (size_t k = 0; k < c.view().num_operands(); ++k) {
    const LoopForm form = c.LoopFormOf(k);
    if (!form) continue;
    if (c.operand_type(k) != type) return;
    if (SymbolsOf(c, form.tangents) * c.view().result().num_elements() > kMaxTangents) return;
  }
  if (IsMove(c.view().instruction.opcode)) return c.SetLoopForm(LoopFormOfMove(c));
  LoopForm form = LoopFormOfOperands(c, c.ResultRounding());
  if (!form) return;
  form.steps = MostSteps(c) + 1;
  // Tangents that underflow lose less than the smallest number each.
  const double lost = std::ldexp(4.0 * static_cast<double>(SymbolsOf(c, form.tangents)),
                                 type == ElementType::kF64 ? -1074 : -149);
  form.rest = c.Plus(c.OrZero(form.rest, c.Result()), lost);
  if (sharpens) {
    form = Settled(c, form);
    form.total = SumOverSymbols(c, form.tangents);
    const Node reach = Within(c, c.Times(c.Plus(form.total, form.rest), Slack(type)), c.Result(), type);
    c.SetRadius(c.Choose(c.Compare("LT", reach, c.ResultRadius()), reach, c.ResultRadius()));
  }
  // An array that may be infinite is not where its operands' forms put it.
  form.rest = KnownWhere(c, c.Compare("LT", c.ResultRadius(), kInfinity), form.rest);
  c.SetLoopForm(form);
}

}  // namespace assay::bound
