// Results that hang on an order: sort, top-k. And random bits.
#include <algorithm>

#include "evaluator/bounds/comparator.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// The largest radius of each line along d, in the place of every element of the line.
Node LargestOfLine(BoundContext& c, Node radius, int64_t d) {
  if (!radius) return radius;
  const Node largest = c.Reduced(Opcode::kMaximum, radius, {&d, 1});
  Instruction spread(Opcode::kBroadcast);
  Ints kept;
  for (int64_t i = 0; i < c.ShapeOf(radius).rank(); ++i) {
    if (i != d) kept.push_back(i);
  }
  spread.attributes.Set(Attr::kDimensions, kept);
  spread.shape = std::make_shared<const Shape>(c.ShapeOf(radius));
  spread.operands.push_back(largest.id);
  return c.Write(std::move(spread));
}

// The operands' radii, sorted as the operands are; none where one has none.
std::vector<Node> SortedRadii(BoundContext& c, ComputationId comparator) {
  Instruction sort(Opcode::kSort);
  sort.attributes = c.attributes();
  std::vector<ElementType> types;
  std::vector<Node> radii(c.view().num_operands());
  for (size_t k = 0; k < radii.size(); ++k) sort.operands.push_back(c.Value(k).id);
  for (size_t k = 0; k < radii.size(); ++k) {
    if (!c.Radius(k)) continue;
    types.push_back(c.ShapeOf(c.Radius(k)).element_type());
    sort.operands.push_back(c.Radius(k).id);
  }
  sort.attributes.Set(Attr::kToApply, c.Widened(comparator, types));
  const Node sorted = c.Write(std::move(sort));
  int64_t next = static_cast<int64_t>(radii.size());
  for (size_t k = 0; k < radii.size(); ++k) {
    if (c.Radius(k)) radii[k] = c.Element(sorted, next++);
  }
  return radii;
}

// How far each element of an ordered line is from the nearer of its neighbours: +inf where it has none.
Node NearestInOrder(BoundContext& c, Node values, int64_t d) {
  const int64_t n = c.ShapeOf(values).size(d);
  const Node alone = c.Constant(kInfinity, n <= 1 ? values : c.Sliced(values, d, 0, 1));
  if (n <= 1) return alone;
  const Node apart =
      c.Write(Opcode::kAbs, {c.Minus(c.Sliced(values, d, 1, n), c.Sliced(values, d, 0, n - 1))});
  const auto joined = [&](Node first, Node second) {
    Instruction both(Opcode::kConcatenate);
    both.attributes.Set(Attr::kDimensions, Ints{d});
    both.operands = {first.id, second.id};
    return c.Write(std::move(both));
  };
  return c.Write(Opcode::kMinimum, {joined(alone, apart), joined(apart, alone)});
}

}  // namespace

// The k-th of a line in order is moved by no more than the farthest of its elements. Where its neighbours in
// order are apart from it it is one element for certain, with that one's radius, and what goes with it does.
// Other keys decide between equal ones alone.
void Sort(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const ComputationId comparator = *c.attributes().Computation(Attr::kToApply);
  std::vector<bool> reads(c.view().num_operands());
  for (const Instruction& instruction : c.module().computation(comparator).instructions) {
    for (const int32_t k : instruction.operands) {
      const Instruction& operand = c.module().computation(comparator).instructions[static_cast<size_t>(k)];
      if (operand.opcode == Opcode::kParameter)
        reads[static_cast<size_t>(operand.parameter_number) / 2] = true;
    }
  }
  bool is_exact = true;
  for (size_t k = 0; k < reads.size(); ++k) is_exact = is_exact && !(reads[k] && c.Radius(k));
  const std::optional<FirstKey> key = is_exact ? std::nullopt : FirstKeyOf(c.module(), comparator);
  if (!is_exact && !key.has_value())
    return c.MarkUnchecked(
        "a comparator that is not found to order by one operand first, of keys that are not exact");
  const std::vector<Node> radii = SortedRadii(c, comparator);
  if (is_exact) {
    for (size_t k = 0; k < radii.size(); ++k) c.SetRadius(radii[k], k);
    return;
  }
  const int64_t d = c.attributes().List(Attr::kDimensions)[0];
  const size_t chosen = static_cast<size_t>(key->operand);
  const ElementType type = c.operand_type(chosen), radius_type = RadiusType(type);
  Node most = LargestOfLine(c, c.Radius(chosen), d);
  // The sign of a NaN that an operation makes is open (IEEE 754, 6.3), and the total order has it at one end
  // of the line or at the other.
  for (size_t k = 0; k < reads.size(); ++k) {
    if (!reads[k] || !c.Radius(k) || !IsFloat(c.operand_type(k))) continue;
    const Node is_nan = c.Compare("NE", c.Value(k), c.Value(k));
    const Node open = c.Choose(is_nan, c.Constant(kInfinity, c.Radius(k)), Node());
    most = c.Max(most, c.ConvertTo(LargestOfLine(c, open, d), radius_type));
  }
  Node undecided = most;  // by any key
  for (size_t k = 0; k < reads.size(); ++k) {
    if (k != chosen && reads[k])
      undecided = c.Max(undecided, c.ConvertTo(LargestOfLine(c, c.Radius(k), d), radius_type));
  }
  // Keys R(x) that are rounded by half an ulp h: the k-th key is moved by r + 2 h,
  // and either element is h from its key.
  if (key->relative > 0) {
    const Node reach = c.Plus(c.Magnitude(c.Value(chosen)), c.Radius(chosen));
    const Node size = c.Plus(c.Times(reach, 4 * key->relative), 4 * key->absolute);
    most = c.Plus(most, LargestOfLine(c, size, d));
  }
  // Integers that are equal numbers of radius type need not be equal: no distance tells them apart.
  const Node nearest = NearestInOrder(c, c.ConvertTo(c.Result(chosen), radius_type), d);
  const Node reach = IsFloat(type) ? c.Times(most, 2 * Slack(radius_type))
                                   : c.Plus(c.Times(most, 2 * Slack(radius_type)),
                                            c.Times(c.Magnitude(c.Result(chosen)), 0x1p-21));
  const Node like = c.Magnitude(c.Result(chosen));
  const Node decided =
      c.Write(Opcode::kOr, {c.Compare("EQ", undecided, 0), c.Compare("GT", nearest, c.OrZero(reach, like))});
  for (size_t k = 0; k < radii.size(); ++k) {
    const Node unknown =
        c.Constant(kInfinity, c.ConvertTo(c.Magnitude(c.Result(k)), RadiusType(c.operand_type(k))));
    c.SetRadius(c.Choose(decided, radii[k], k == chosen ? c.OrZero(most, like) : unknown), k);
  }
}

// The values as of a sort. Which elements they are is decided where their neighbours in order are apart, of
// which the first one that is left out is one.
void TopK(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const int64_t d = c.view().operand(0).rank() - 1, n = c.view().operand(0).size(d);
  const int64_t k = c.view().result().element(0).size(d);
  const ElementType type = c.ShapeOf(radius).element_type();
  DimVector kept;
  for (int64_t i = 0; i < d; ++i) kept.push_back(i);
  const Node like = c.Magnitude(c.Result(0));
  const Node most = c.SpreadAlong(c.Reduced(Opcode::kMaximum, radius, {&d, 1}), kept, like);
  c.SetRadius(most, 0);
  Node decided = c.Compare("EQ", most, 0);
  if (IsFloat(c.operand_type(0)) && k > 0) {
    Node values = c.Result(0);
    if (k < n) {
      Instruction longer(Opcode::kTopK);
      longer.attributes.Set(Attr::kK, k + 1);
      longer.attributes.Set(Attr::kLargest, c.attributes().Bool(Attr::kLargest, true));
      longer.operands = {c.Value(0).id};
      values = c.Element(c.Write(std::move(longer)), 0);
    }
    Node nearest = NearestInOrder(c, c.ConvertTo(values, type), d);
    if (k < n) nearest = c.Sliced(nearest, d, 0, k);
    decided = c.Write(Opcode::kOr, {decided, c.Compare("GT", nearest, c.Times(most, 2 * Slack(type)))});
  }
  c.SetRadius(c.Choose(decided, Node(), c.Constant(kInfinity, c.Magnitude(c.Result(1)))), 1);
}

// Integer arithmetic on the state, but for the algorithm that each backend chooses.
void RngBitGenerator(BoundContext& c) {
  if (c.AnyRadius()) return c.MarkUnchecked("a state that is not exact");
  if (c.attributes().Text(Attr::kAlgorithm) == "rng_default")
    c.MarkUnchecked("each backend has an algorithm of its own");
}

}  // namespace assay::bound
