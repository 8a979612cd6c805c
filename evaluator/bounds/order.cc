// Results that hang on an order: sort, top-k. And random bits.
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// The largest radius of each line along d, in the place of every element of the line.
Node LargestOfLine(BoundContext& c, Node radius, int64_t d) {
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

// The parameter that an operand of a comparator's root stands for: itself, or through choices of a constant for zeros and
// NaNs, which is how JAX makes a total order of them. -1: something else.
int64_t ParameterOf(const Computation& computation, int32_t index) {
  for (int depth = 0; depth < 8; ++depth) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(index)];
    if (instruction.opcode == Opcode::kParameter) return instruction.parameter_number;
    if (instruction.opcode != Opcode::kSelect) return -1;
    const int32_t chosen = instruction.operands[1];
    if (computation.instructions[static_cast<size_t>(chosen)].opcode != Opcode::kConstant) return -1;
    index = instruction.operands[2];
  }
  return -1;
}

// The comparator orders by operand k alone, ascending or descending.
std::optional<int64_t> KeyOf(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kCompare) return std::nullopt;
  const int64_t a = ParameterOf(computation, root.operands[0]),
                b = ParameterOf(computation, root.operands[1]);
  if (a < 0 || b < 0 || a / 2 != b / 2 || a == b) return std::nullopt;
  return a / 2;
}

}  // namespace

// One operand: the k-th of a line in order is moved by no more than the farthest of its elements. Others that go with it
// would have to be known to keep their places, which nobody works out yet.
void Sort(BoundContext& c) {
  if (!c.AnyRadius()) return;
  const std::optional<int64_t> key = KeyOf(c.module(), *c.attributes().Computation(Attr::kToApply));
  if (!key.has_value())
    return c.GiveUp("a comparator that is no plain order, of operands that are not exact");
  const int64_t d = c.attributes().List(Attr::kDimensions)[0];
  const size_t k = static_cast<size_t>(*key);
  if (!c.Radius(k)) return c.GiveUp("no rule yet for what is sorted along by exact keys");
  for (size_t i = 0; i < c.view().num_operands(); ++i) {
    if (i == k) {
      c.Give(LargestOfLine(c, c.Radius(k), d), i);
      continue;
    }
    const Node like = c.Magnitude(c.Result(i));
    c.Give(c.Constant(kInfinity, like), i);
  }
}

// The values as of a sort; which elements they are is not known.
void TopK(BoundContext& c) {
  const Node radius = c.Radius(0);
  if (!radius) return;
  const int64_t d = c.view().operand(0).rank() - 1;
  const Node largest = c.Reduced(Opcode::kMaximum, radius, {&d, 1});
  Instruction spread(Opcode::kBroadcast);
  Ints kept;
  for (int64_t i = 0; i < d; ++i) kept.push_back(i);
  spread.attributes.Set(Attr::kDimensions, kept);
  Shape shape = c.view().result().element(0);
  shape.set_element_type(c.ShapeOf(radius).element_type());
  spread.shape = std::make_shared<const Shape>(std::move(shape));
  spread.operands.push_back(largest.id);
  c.Give(c.Write(std::move(spread)), 0);
  c.Give(c.Constant(kInfinity, c.Magnitude(c.Result(1))), 1);
}

// Integer arithmetic on the state, but for the algorithm that each backend chooses.
void RngBitGenerator(BoundContext& c) {
  if (c.AnyRadius()) return c.GiveUp("a state that is not exact");
  if (c.attributes().Text(Attr::kAlgorithm) == "rng_default")
    c.GiveUp("each backend has an algorithm of its own");
}

}  // namespace assay::bound
