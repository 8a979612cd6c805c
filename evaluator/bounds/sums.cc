// Sums and products of many elements: midpoint and radius. For n terms added in any order in a format with
// unit of roundoff u, a backend's sum of t_1, …, t_n is within g = (1 + u)^n - 1 times sum |t_i| of the real
// one, whatever the order (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), so a sum of
// elements with radii r_i has
//   r = sum r_i + g sum (|t_i| + r_i) = sum ((1 + g) r_i + g |t_i|): one more sum,
//   over elements that are made on the way.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/replica_groups.h"
#include "evaluator/scalar_function.h"
#include "literal/literal.h"

namespace assay::bound {
namespace {

// (1 + u)^n - 1. Rounding errors of n terms usually add up to about the root of n of one (Higham, Accuracy
// and Stability of Numerical Algorithms, section 2.8).
double Gamma(const BoundContext& c, double terms, double unit) {
  return c.IsEstimate() ? std::sqrt(terms) * unit : std::expm1(terms * std::log1p(unit));
}

// Real and imaginary parts of a complex product are sums of two,
// and a modulus is at most sqrt(2) of the larger part.
double GammaOfProducts(const BoundContext& c, ElementType type, double terms, double unit) {
  return IsComplex(type) ? 1.5 * Gamma(c, 2 * terms + 2, unit) : Gamma(c, terms, unit);
}

double SizesOf(const Shape& shape, std::span<const int64_t> dimensions) {
  double product = 1;
  for (const int64_t d : dimensions) product *= static_cast<double>(shape.size(d));
  return product;
}

// (1 + g) r + g |a|: what one term adds to the radius of a sum.
Node TermOf(BoundContext& c, Node magnitude, Node radius, double gamma) {
  return c.Plus(c.Times(radius, 1 + gamma), c.Times(magnitude, gamma));
}

// This instruction, a fold, on other elements, with a start value of 0 and another operation.
Node FoldOf(BoundContext& c, Opcode op, Node elements, Node start) {
  const ElementType type = c.ShapeOf(elements).element_type();
  Instruction instruction(c.view().instruction.opcode);
  instruction.attributes = c.attributes();
  instruction.attributes.Set(Attr::kToApply, c.Reducer(op, type));
  instruction.operands = {elements.id, (start ? start : c.Scalar(type, 0)).id};
  return c.Write(std::move(instruction));
}

// prod (|t_i| + r_i) (1 + g) - prod |t_i|.
void GiveProduct(BoundContext& c, double terms) {
  const ElementType type = RadiusType(c.result_type());
  const double gamma = Gamma(c, terms + 1, c.SumUnit(c.result_type()));
  const auto reach = [&](size_t k) {
    return c.ConvertTo(c.Plus(c.Magnitude(c.Value(k)), c.Radius(k)), type);
  };
  const Node largest = c.Times(FoldOf(c, Opcode::kMultiply, reach(0), reach(1)),
                               (1 + gamma) * (1 + Gamma(c, terms + 1, 0x1p-23)));
  SetRoundedRadius(c, c.Minus(largest, c.Times(c.Magnitude(c.Result()), 2 - Slack(type))));
}

double UnitOfSums(BoundContext& c) { return IsNumber(c.result_type()) ? c.SumUnit(c.result_type()) : 0; }

// The dimensions that a reduce keeps.
DimVector KeptBy(BoundContext& c) {
  const auto dimensions = c.attributes().List(Attr::kDimensions);
  DimVector kept;
  for (int64_t d = 0; d < c.view().operand(0).rank(); ++d) {
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) kept.push_back(d);
  }
  return kept;
}

// Which elements of the lines of operand 0 no backend can have as the line's largest (or smallest) v. Let M
// be the largest radius of the elements that are v, and of the start value. Every backend has a result of at
// least v - M; an element x with x + r < v - M is less than that. Where x may overflow,
// x + r is its upper end.
Node AreOut(BoundContext& c, bool largest, Node start_radius) {
  const ElementType type = RadiusType(c.operand_type(0));
  const auto dimensions = c.attributes().List(Attr::kDimensions);
  const DimVector kept = KeptBy(c);
  const Node x = c.ConvertTo(c.Value(0), type), radius = c.OrZero(c.Radius(0), x);
  const Node v = c.SpreadAlong(c.ConvertTo(c.Result(0), type), kept, x);
  Node most = c.Reduced(Opcode::kMaximum, c.Choose(c.Compare("EQ", x, v), radius, Node()), dimensions);
  if (start_radius) most = c.Plus(most, c.Spread(start_radius, most));
  most = c.SpreadAlong(most, kept, x);
  const Node gap = largest ? c.Minus(v, x) : c.Minus(x, v);
  Node out = c.Compare("GT", gap, c.Times(c.Plus(radius, most), 2 * Slack(type) - 1));
  if (c.MayOverflow(0)) {
    const Ends ends = c.EndsOf(0);
    const Node room = c.Plus(c.Times(most, Slack(type)), c.Times(c.Magnitude(v), 0x1p-22));
    const Node beyond =
        largest ? c.Compare("LT", ends.high, c.Minus(v, room)) : c.Compare("GT", ends.low, c.Plus(v, room));
    out = c.Write(Opcode::kOr, {out, beyond});
  }
  return out;
}

// No result is farther away than the farthest of those that may be the largest.
// All elements are v but for their radii.
Node ExtremeRadius(BoundContext& c, Node are_out, Node start_radius) {
  const Node x = c.ConvertTo(c.Value(0), RadiusType(c.operand_type(0)));
  const Node near = c.Choose(are_out, Node(), c.OrZero(c.Radius(0), x));
  const Node most = c.Reduced(Opcode::kMaximum, near, c.attributes().List(Attr::kDimensions));
  return start_radius ? c.Max(most, c.Spread(start_radius, most)) : most;
}

// convert(convert(a op b)) to a narrower type and back, as XLA widens reducers of bf16: the operation,
// and that type.
std::optional<std::pair<Opcode, ElementType>> RoundedOperationOf(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const auto at = [&](int32_t k) -> const Instruction& {
    return computation.instructions[static_cast<size_t>(k)];
  };
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kConvert || at(root.operands[0]).opcode != Opcode::kConvert) return std::nullopt;
  const Instruction& narrow = at(root.operands[0]);
  const Instruction& inner = at(narrow.operands[0]);
  const ElementType type = root.shape->element_type(), rounded = narrow.shape->element_type();
  if (!IsFloat(type) || !IsFloat(rounded) || inner.shape->element_type() != type ||
      computation.parameters.size() != 2)
    return std::nullopt;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool is_known =
      inner.opcode == Opcode::kAdd || inner.opcode == Opcode::kMaximum || inner.opcode == Opcode::kMinimum;
  if (!is_known || !((inner.operands[0] == a && inner.operands[1] == b) ||
                     (inner.operands[0] == b && inner.operands[1] == a)))
    return std::nullopt;
  return std::pair(inner.opcode, rounded);
}

// Each of n operations is rounded to the narrower type N, ours and the backend's, or the backend's is not:
// sums are off by twice g = (1 + u + half an ulp)^n - 1 of what is added, the largest and smallest, which are
// rounded once, by twice half an ulp; and all by N's smallest number each time. Nothing is known where a sum
// on the way may leave N: sum |t_i| <= radius / 2 g is to fit.
void GiveRoundedFold(BoundContext& c, double terms, Opcode op, ElementType rounded) {
  const ElementType type = RadiusType(c.result_type());
  const FloatFormat& format = *Info(rounded).format;
  const Node x = c.Magnitude(c.Value(0)), start = c.Magnitude(c.Value(1));
  const double half_ulp = UlpOf(rounded) / 2, tiny = terms * std::max(format.min_subnormal, 0x1p-126);
  Node radius, fits;
  if (op == Opcode::kAdd) {
    const double gamma = 2 * Gamma(c, terms, c.SumUnit(c.result_type()) + half_ulp);
    const Node term = c.ConvertTo(TermOf(c, x, c.Radius(0), gamma), type);
    radius = FoldOf(c, Opcode::kAdd, term, c.ConvertTo(TermOf(c, start, c.Radius(1), gamma), type));
    fits = c.Compare("LE", radius, gamma * format.max_finite / 2);
  } else {
    radius = FoldOf(c, Opcode::kMaximum, c.OrZero(c.ConvertTo(c.Radius(0), type), x),
                    c.ConvertTo(c.Radius(1), type));
    const Node reach = c.Plus(c.Magnitude(c.Result()), radius);
    fits = c.Compare("LE", reach, format.max_finite / 2);
    radius = c.Plus(radius, c.Times(reach, 2 * half_ulp));
  }
  SetRoundedRadius(c, c.Choose(fits, c.Plus(radius, tiny), c.Constant(kInfinity, radius)));
}

// `spread` is gamma sum |t| and more. Terms may be added in any order, and a sum on the way may be infinite
// where they come to more than the largest number of the type in which sums are kept: then nothing is known.
Node UnlessSumsOverflow(BoundContext& c, Node spread, double gamma) {
  const ElementType type = c.result_type();
  if (!spread || gamma <= 0 || !IsNumber(type)) return spread;
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  // Sums of a type that is kept wider are numbers of the radius' type at least.
  const ElementType kept = c.SumUnit(type) >= UlpOf(type) / 2 ? component : RadiusType(component);
  const Node fits = c.Compare("LE", spread, gamma * Info(kept).format->max_finite);
  return c.Choose(fits, spread, c.Constant(kInfinity, spread));
}

// The start value is 0: what is added to it is not rounded.
bool StartsAtZero(BoundContext& c) {
  const Instruction& start =
      c.view().computation.instructions[static_cast<size_t>(c.view().instruction.operands[1])];
  return start.opcode == Opcode::kConstant && start.literal != nullptr && IsFloat(c.result_type()) &&
         start.literal->GetDouble(0) == 0;
}

// Folds of one operand by an operation whose meaning for radii is known; `terms` elements each,
// and what an addition is rounded by.
void GiveFold(BoundContext& c, double terms, double unit) {
  const ComputationId reducer = *c.attributes().Computation(Attr::kToApply);
  const bool is_sum = c.view().num_operands() == 2 && IsExactSum(c.module(), reducer);
  const std::optional<Opcode> op = is_sum                         ? Opcode::kAdd
                                   : c.view().num_operands() == 2 ? OperationOf(c.module(), reducer)
                                                                  : std::nullopt;
  const bool known = op.has_value() && c.view().result().IsArray();
  if (!known && c.view().num_operands() == 2 && IsFloat(c.result_type())) {
    if (const auto rounded = RoundedOperationOf(c.module(), reducer))
      return GiveRoundedFold(c, terms, rounded->first, rounded->second);
  }
  if (!c.AnyRadius() &&
      (!known || !IsNumber(c.result_type()) || *op == Opcode::kMaximum || *op == Opcode::kMinimum)) {
    if (!known && !c.IsExact(reducer))
      c.MarkUnchecked("a reducer that rounds, and is not a single operation");
    return;
  }
  if (!known)
    return c.MarkUnchecked("a reducer that is not a single operation, of operands that are not exact");
  const ElementType type = RadiusType(c.result_type());
  if (*op == Opcode::kMultiply && IsNumber(c.result_type())) return GiveProduct(c, terms);
  if (*op == Opcode::kAdd && c.result_type() != ElementType::kPred) {
    if (!c.IsEstimate() && StartsAtZero(c)) terms = std::max(terms - 2, 0.0);
    const double gamma = IsNumber(c.result_type()) ? Gamma(c, terms, unit) : 0;
    const Node term = c.ConvertTo(TermOf(c, c.Magnitude(c.Value(0)), c.Radius(0), gamma), type);
    const Node start = c.ConvertTo(TermOf(c, c.Magnitude(c.Value(1)), c.Radius(1), gamma), type);
    const Node spread = FoldOf(c, Opcode::kAdd, c.OrZero(term, c.Magnitude(c.Value(0))), start);
    if (c.AnyLoopForm()) {
      const Node reach = c.Plus(c.Magnitude(c.Value(0)), c.Radius(0));
      const Node from = c.Plus(c.Magnitude(c.Value(1)), c.Radius(1));
      c.AddRounding(FoldOf(c, Opcode::kAdd, c.OrZero(c.Times(reach, gamma), reach), c.Times(from, gamma)), 0);
    }
    SetRoundedRadius(c, UnlessSumsOverflow(c, spread, gamma), c.AllowedForSum(c.result_type()));
    // A sum of zeros, which are exact.
    if (c.ResultRadius() && IsFloat(c.result_type()))
      c.SetRadius(c.Choose(c.Compare("EQ", c.Plus(c.ConvertTo(spread, type), c.Magnitude(c.Result())), 0),
                           Node(), c.ResultRadius()));
    SharpenSquaredDeviations(c, gamma);
    return;
  }
  const bool is_reduce = c.view().instruction.opcode == Opcode::kReduce;
  if (is_reduce && IsFloat(c.result_type()) && (*op == Opcode::kMaximum || *op == Opcode::kMinimum)) {
    const Node are_out = AreOut(c, *op == Opcode::kMaximum, c.Radius(1));
    return c.SetRadius(ExtremeRadius(c, are_out, c.Radius(1)));
  }
  // No largest, smallest, and or or is farther away than the farthest element; of others nothing is known.
  const Node r = c.OrZero(c.ConvertTo(c.Radius(0), type), c.Magnitude(c.Value(0)));
  const Node farthest = FoldOf(c, Opcode::kMaximum, r, c.ConvertTo(c.Radius(1), type));
  const bool keeps_order = *op == Opcode::kMaximum || *op == Opcode::kMinimum;
  if (keeps_order && !IsComplex(c.result_type())) return c.SetRadius(farthest);
  c.SetRadius(c.Choose(c.Compare("EQ", farthest, 0), Node(), c.Constant(kInfinity, farthest)));
}

// The root of the sum of squares along the contracted dimensions; squares in f64 neither overflow nor
// underflow where those of f32 would. The result has the other dimensions, batch dimensions first.
Node NormsOf(BoundContext& c, size_t operand, Attr batch, Attr contracted, ElementType type) {
  const Node x = c.ConvertTo(c.Magnitude(c.Value(operand)), ElementType::kF64);
  const auto dimensions = c.attributes().List(contracted), first = c.attributes().List(batch);
  Node squares = c.Reduced(Opcode::kAdd, c.Times(x, x), dimensions);
  // Where the batch dimensions, with those gone, are not in front, a transpose brings them there.
  DimVector kept(first.begin(), first.end());
  const auto has = [](const auto& list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  for (int64_t d = 0; d < c.view().operand(operand).rank(); ++d) {
    if (!has(first, d) && !has(dimensions, d)) kept.push_back(d);
  }
  Ints permutation;
  for (const int64_t d : kept)
    permutation.push_back(std::count_if(kept.begin(), kept.end(), [d](int64_t other) { return other < d; }));
  if (!std::is_sorted(permutation.begin(), permutation.end())) {
    Instruction transpose(Opcode::kTranspose);
    transpose.attributes.Set(Attr::kDimensions, permutation);
    transpose.operands.push_back(squares.id);
    squares = c.Write(std::move(transpose));
  }
  return c.ConvertTo(c.Write(Opcode::kSqrt, {squares}), type);
}

// What sum |a_k b_k| of a dot is at most, |a| |b| in 2-norms (Cauchy and Schwarz): n (m + k) products where
// the sums themselves have n m k.
Node ProductOfNorms(BoundContext& c) {
  const ElementType type = RadiusType(c.result_type());
  const Node a = NormsOf(c, 0, Attr::kLhsBatchDims, Attr::kLhsContractingDims, type);
  const Node b = NormsOf(c, 1, Attr::kRhsBatchDims, Attr::kRhsContractingDims, type);
  const int64_t batch = std::ssize(c.attributes().List(Attr::kLhsBatchDims)), rank = c.view().result().rank();
  DimVector of_a, of_b;
  for (int64_t d = 0; d < c.ShapeOf(a).rank(); ++d) of_a.push_back(d);
  for (int64_t d = 0; d < rank; ++d) {
    if (d < batch || d >= c.ShapeOf(a).rank()) of_b.push_back(d);
  }
  const Node like = c.Result();
  return c.Times(c.SpreadAlong(a, of_a, like), c.SpreadAlong(b, of_b, like));
}

// Sums of squares take some ten times as long per term as dots.
bool NormsAreCheaper(const BoundContext& c, double terms) {
  constexpr double kLeast = 64;
  if (c.view().instruction.opcode != Opcode::kDot || !IsNumber(c.view().result().element_type()))
    return false;
  const double read =
      static_cast<double>(c.view().operand(0).num_elements() + c.view().operand(1).num_elements());
  return static_cast<double>(c.view().result().num_elements()) * terms > kLeast * read;
}

// A factor of a contraction, as magnitudes; by how much of itself it may be cut or rounded.
struct Factor {
  Node size, radius;
  double cut = 0;
};

// |A| rB + rA |B| + rA rB + g (|A| + rA)(|B| + rB), g with what the operands are cut by:
//   = |A| ((1 + g) rB + g |B|) + rA (1 + g)(|B| + rB): no product but those that are needed.
void GiveProductsOf(BoundContext& c, double terms, const Factor& a, const Factor& b,
                    absl::FunctionRef<Node(Node, Node)> products) {
  const ElementType result = c.result_type();
  double gamma = 0;
  if (IsNumber(result)) {
    const double cut = a.cut + b.cut;
    gamma = (1 + GammaOfProducts(c, result, terms, c.SumUnit(result))) * (1 + cut) * (1 + cut) - 1;
  }
  if (c.IsEstimate() && !c.AnyRadius() && NormsAreCheaper(c, terms))
    return SetRoundedRadius(c, c.Times(ProductOfNorms(c), gamma), c.AllowedForSum(result));
  Node spread;
  if (const Node right = TermOf(c, b.size, b.radius, gamma)) spread = products(a.size, right);
  if (a.radius) spread = c.Plus(spread, products(a.radius, c.Times(c.Plus(b.size, b.radius), 1 + gamma)));
  if (gamma > 0 && c.AnyLoopForm())
    c.AddRounding(products(c.Plus(a.size, a.radius), c.Times(c.Plus(b.size, b.radius), gamma)), 0);
  SetRoundedRadius(c, UnlessSumsOverflow(c, spread, gamma), c.AllowedForSum(result));
}

void GiveProducts(BoundContext& c, double terms) {
  // Groups of ragged dots stand behind the two factors.
  const auto products = [&](Node x, Node y) {
    std::vector<Node> operands = {x, y};
    for (size_t k = 2; k < c.view().num_operands(); ++k) operands.push_back(c.Value(k));
    return c.CloneWith(operands);
  };
  const ElementType type = RadiusType(c.result_type());
  const auto factor = [&](size_t k) {
    return Factor{c.ConvertTo(c.Magnitude(c.Value(k)), type), c.ConvertTo(c.Radius(k), type),
                  IsNumber(c.result_type()) ? c.InputUnit(c.operand_type(k)) : 0};
  };
  GiveProductsOf(c, terms, factor(0), factor(1), products);
}

// An operand times the scales of its blocks, magnitudes with radii: s of sizes d / q becomes one of sizes d.
// The product may be rounded to bf16, unless the scales are powers of two.
Factor ScaledFactor(BoundContext& c, size_t k) {
  const ElementType type = RadiusType(c.result_type());
  Factor x{c.ConvertTo(c.Magnitude(c.Value(k)), type), c.ConvertTo(c.Radius(k), type),
           c.InputUnit(c.operand_type(k))};
  const Shape &whole = c.view().operand(k), &scale = c.view().operand(k + 2);
  if (scale.IsScalar()) return x;
  const auto spread = [&](Node s) {
    if (!s) return s;
    DimVector parts, dimensions;
    for (int64_t d = 0; d < whole.rank(); ++d) {
      dimensions.push_back(2 * d);
      parts.push_back(scale.size(d));
      parts.push_back(scale.size(d) == 0 ? 0 : whole.size(d) / scale.size(d));
    }
    Instruction blocks(Opcode::kBroadcast), reshape(Opcode::kReshape);
    blocks.attributes.Set(Attr::kDimensions, std::move(dimensions));
    blocks.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(type, parts));
    blocks.operands = {s.id};
    reshape.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(type, whole.sizes()));
    reshape.operands = {c.Write(std::move(blocks)).id};
    return c.Write(std::move(reshape));
  };
  const Node s = spread(c.ConvertTo(c.Magnitude(c.Value(k + 2)), type)),
             rs = spread(c.ConvertTo(c.Radius(k + 2), type));
  const Node radius = c.Plus(c.Times(c.Plus(x.size, x.radius), rs), c.Times(x.radius, s));
  const ElementType scales = scale.element_type();
  const bool is_exact = Info(scales).format != nullptr && Info(scales).format->mantissa_bits == 0;
  return {c.Times(x.size, s), radius, x.cut + (is_exact ? 0 : UlpOf(ElementType::kBF16) / 2)};
}

// How many devices a group has at most; where the program does not say it, no group is known to be small.
double MembersOf(BoundContext& c) {
  const absl::StatusOr<ReplicaGroupSize> size =
      CheckReplicaGroups(DeviceCounts::AsWritten(c.module()), c.attributes(), {.has_global_ids = true});
  return size.ok() && size->exact ? static_cast<double>(size->size) : 1 << 16;
}

// Sums over the devices of a group.
void GiveSumOfGroup(BoundContext& c) {
  const ComputationId reducer = *c.attributes().Computation(Attr::kToApply);
  const std::optional<Opcode> op =
      IsExactSum(c.module(), reducer) ? Opcode::kAdd : OperationOf(c.module(), reducer);
  if (c.view().num_operands() != 1 || !c.view().result().IsArray() || !op.has_value()) {
    if (c.AnyRadius() || !c.IsExact(reducer)) c.MarkUnchecked("a reducer that is not a single operation");
    return;
  }
  const bool rounds = *op == Opcode::kAdd && IsNumber(c.result_type());
  if (!rounds && !c.AnyRadius()) return;
  const bool keeps_order =
      (*op == Opcode::kMaximum || *op == Opcode::kMinimum) && !IsComplex(c.result_type());
  if (!rounds && !keeps_order)
    return c.MarkUnchecked("no rule yet for this reducer, of operands that are not exact");
  const double gamma = Gamma(c, MembersOf(c), c.SumUnit(c.result_type()));
  const bool is_start = c.view().instruction.opcode == Opcode::kAllReduceStart;
  Instruction instruction(is_start ? Opcode::kAllReduce : c.view().instruction.opcode);
  instruction.attributes = c.attributes();
  const ElementType type = RadiusType(c.result_type());
  instruction.attributes.Set(Attr::kToApply, c.Reducer(keeps_order ? Opcode::kMaximum : Opcode::kAdd, type));
  Shape shape = c.view().result();
  shape.set_element_type(type);
  instruction.shape = std::make_shared<const Shape>(std::move(shape));
  // No largest or smallest is farther away than the farthest element.
  if (keeps_order) {
    instruction.operands = {c.ConvertTo(c.Radius(0), type).id};
    return GiveUnrounded(c, c.Write(std::move(instruction)));
  }
  instruction.operands = {TermOf(c, c.Magnitude(c.Value(0)), c.Radius(0), gamma).id};
  SetRoundedRadius(c, c.Write(std::move(instruction)));
}

// The largest or smallest of a line, and what goes with it: that is decided where one element alone may be
// it, which is not the start value.
void GiveArgExtreme(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const std::optional<Opcode> op = ArgExtremeOf(c.module(), *c.attributes().Computation(Attr::kToApply));
  if (!op || !IsFloat(c.operand_type(0)) || c.Radius(1) || c.Radius(3))
    return c.MarkUnchecked(
        "a reducer that is not known to choose by one number, of operands that are not exact");
  const ElementType type = RadiusType(c.operand_type(0));
  const auto dimensions = c.attributes().List(Attr::kDimensions);
  const Node x = c.ConvertTo(c.Value(0), type), v = c.ConvertTo(c.Result(0), type),
             start = c.ConvertTo(c.Value(2), type);
  const Node are_out = AreOut(c, *op == Opcode::kMaximum, c.Radius(2));
  const Node near = c.Reduced(Opcode::kAdd, c.Choose(are_out, Node(), c.Constant(1, x)), dimensions);
  const Node most = ExtremeRadius(c, are_out, c.Radius(2));
  const Node from_start = c.Write(Opcode::kAbs, {c.Minus(c.Spread(start, v), v)});
  const Node alone = c.Write(
      Opcode::kAnd, {c.Compare("EQ", near, 1), c.Compare("GT", from_start, c.Times(most, 2 * Slack(type)))});
  // Of exact elements the first is it, however many are equal.
  const Node farthest = c.Reduced(Opcode::kMaximum, c.OrZero(c.Radius(0), x), dimensions);
  const Node whole = c.Radius(2) ? c.Plus(farthest, c.Spread(c.Radius(2), farthest)) : farthest;
  const Node decided = c.Write(Opcode::kOr, {alone, c.Compare("EQ", whole, 0)});
  c.SetRadius(most, 0);
  const Node like = c.ConvertTo(c.Constant(0, v), RadiusType(c.operand_type(1)));
  c.SetRadius(c.Choose(decided, Node(), c.Constant(kInfinity, like)), 1);
}

}  // namespace

void Reduce(BoundContext& c) {
  if (c.view().num_operands() == 4) return GiveArgExtreme(c);
  GiveFold(c, SizesOf(c.view().operand(0), c.attributes().List(Attr::kDimensions)) + 1, UnitOfSums(c));
}

// XLA:CPU calls the reducer as it stands, whose sums of a narrow type are rounded to it one by one.
void ReduceWindow(BoundContext& c) {
  double size = 1;
  for (const WindowDimension& d : c.attributes().WindowOf()) size *= static_cast<double>(d.size);
  const double narrow = IsNumber(c.result_type()) ? UlpOf(c.result_type()) / 2 : 0;
  GiveFold(c, size + 1, std::max(UnitOfSums(c), narrow));
}

void AllReduce(BoundContext& c) { GiveSumOfGroup(c); }
void ReduceScatter(BoundContext& c) { GiveSumOfGroup(c); }

void Dot(BoundContext& c) {
  GiveProducts(c, SizesOf(c.view().operand(0), c.attributes().List(Attr::kLhsContractingDims)));
}

void ScaledDot(BoundContext& c) {
  const ElementType type = RadiusType(c.result_type());
  if (!IsNumber(c.result_type())) return Undecided(c);
  const auto products = [&](Node x, Node y) {
    Instruction dot(Opcode::kDot);
    dot.attributes = c.attributes();
    Shape shape = c.view().result();
    shape.set_element_type(type);
    dot.shape = std::make_shared<const Shape>(std::move(shape));
    dot.operands = {x.id, y.id};
    return c.Write(std::move(dot));
  };
  GiveProductsOf(c, SizesOf(c.view().operand(0), c.attributes().List(Attr::kLhsContractingDims)),
                 ScaledFactor(c, 0), ScaledFactor(c, 1), products);
}

// A group has some of the terms.
void RaggedDot(BoundContext& c) {
  if (c.Radius(2)) return c.MarkUnchecked("groups that are not exact");
  Dot(c);
}

// The terms of one output: the elements of a kernel for one output feature.
void Convolution(BoundContext& c) {
  if (IsComplex(c.result_type())) return c.MarkUnchecked("no rule for complex convolutions yet");
  const auto& numbers =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*c.attributes().Find(Attr::kDimLabels));
  const Shape& kernel = c.view().operand(1);
  double terms = static_cast<double>(kernel.size(numbers.kernel_input_feature));
  for (const int64_t d : numbers.kernel_spatial) terms *= static_cast<double>(kernel.size(d));
  GiveProducts(c, terms);
}

// Sums: an element that k updates are added to has g = (1 + u)^(2k) - 1, which covers the rounding of the
// exact sum, of scattered magnitudes; k is counted by scattering ones.
// Replaced elements take the radius of what replaces them.
void Scatter(BoundContext& c) {
  const ComputationId combiner = *c.attributes().Computation(Attr::kToApply);
  if (c.view().num_operands() != 3) {
    if (c.AnyRadius() || !c.IsExact(combiner)) c.MarkUnchecked("no rule for a scatter of several arrays yet");
    return;
  }
  const bool replaces = Replaces(c.module(), combiner), is_number = IsNumber(c.result_type());
  const std::optional<Opcode> op =
      IsExactSum(c.module(), combiner) ? Opcode::kAdd : OperationOf(c.module(), combiner);
  const bool is_sum = op == Opcode::kAdd && c.result_type() != ElementType::kPred;
  const bool rounds = !replaces && is_number && op != Opcode::kMaximum && op != Opcode::kMinimum;
  if (!c.AnyRadius() && !rounds) {
    if (!replaces && !op && !c.IsExact(combiner))
      c.MarkUnchecked("a combiner that rounds, and is not a single operation");
    return;
  }
  const bool keeps_order = (op == Opcode::kMaximum || op == Opcode::kMinimum) && !IsComplex(c.result_type());
  if (!is_sum && !replaces && !keeps_order) return c.MarkUnchecked("no rule for this combiner yet");
  const ElementType type = RadiusType(c.result_type());
  const auto scattered = [&](Node operand, Node updates) {
    Instruction instruction(Opcode::kScatter);
    instruction.attributes = c.attributes();
    instruction.attributes.Set(
        Attr::kToApply,
        replaces ? c.Replacer(type) : c.Reducer(is_sum ? Opcode::kAdd : Opcode::kMaximum, type));
    Shape shape = c.view().result();
    shape.set_element_type(type);
    instruction.shape = std::make_shared<const Shape>(std::move(shape));
    instruction.operands = {operand.id, c.Value(1).id, updates.id};
    return c.Write(std::move(instruction));
  };
  const Node a = c.ConvertTo(c.Magnitude(c.Value(0)), type), b = c.ConvertTo(c.Magnitude(c.Value(2)), type);
  const Node ra = c.ConvertTo(c.Radius(0), type), rb = c.ConvertTo(c.Radius(2), type);
  Node radius = ra || rb ? scattered(c.OrZero(ra, a), c.OrZero(rb, b)) : Node();
  if (is_sum && is_number) {
    const Node count = scattered(c.Constant(0, a), c.Constant(1, b));
    const double unit = std::max(c.SumUnit(c.result_type()), UlpOf(c.result_type()) / 2);
    const Node gamma = c.Write(Opcode::kExpm1, {c.Times(count, 2 * std::log1p(unit))});
    radius = c.Plus(radius, c.Times(gamma, scattered(c.Plus(a, ra), c.Plus(b, rb))));
    radius = c.Times(radius, Slack(type) * (1 + Gamma(c, 1, 0x1p-20)));
    const Node tiny = c.Times(c.Min(count, 1), c.Allowed(c.result_type()).absolute);
    radius = Within(c, c.Plus(radius, tiny), c.Result(), c.result_type());
  } else if (is_sum) {
    return GiveUnrounded(c, radius);
  }
  if (const Node index = c.Radius(1)) radius = c.Plus(radius, c.Spread(c.Flag(c.ConvertTo(index, type)), a));
  c.SetRadius(radius);
}

// Where the operand that the choice is made from is exact, a sum of the chosen sources;
// the window's size bounds how many.
void SelectAndScatter(BoundContext& c) {
  const ComputationId scatter = *c.attributes().Computation(Attr::kScatter);
  const std::optional<Opcode> op =
      IsExactSum(c.module(), scatter) ? Opcode::kAdd : OperationOf(c.module(), scatter);
  if (c.Radius(0) || !c.IsExact(*c.attributes().Computation(Attr::kSelect)))
    return c.MarkUnchecked("the elements are chosen by values that are not exact");
  if (op != Opcode::kAdd) {
    if (c.AnyRadius() || !c.IsExact(scatter)) c.MarkUnchecked("no rule for this reducer yet");
    return;
  }
  double size = 1;
  for (const WindowDimension& d : c.attributes().WindowOf()) size *= static_cast<double>(d.size);
  const ElementType type = RadiusType(c.result_type());
  if (type != c.operand_type(0)) return c.MarkUnchecked("no rule for this element type yet");
  const double gamma = Gamma(c, size + 1, c.SumUnit(c.result_type()));
  const Node term = TermOf(c, c.Magnitude(c.Value(1)), c.Radius(1), gamma);
  const Node start = TermOf(c, c.Magnitude(c.Value(2)), c.Radius(2), gamma);
  Instruction instruction(Opcode::kSelectAndScatter);
  instruction.attributes = c.attributes();
  instruction.attributes.Set(Attr::kSelect, c.Copied(*c.attributes().Computation(Attr::kSelect)));
  instruction.attributes.Set(Attr::kScatter, c.Reducer(Opcode::kAdd, type));
  instruction.operands = {c.Value(0).id, term.id, start.id};
  SetRoundedRadius(c, c.Write(std::move(instruction)));
}

}  // namespace assay::bound
