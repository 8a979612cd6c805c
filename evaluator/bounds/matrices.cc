#include "evaluator/bounds/matrices.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "evaluator/bounds/rules.h"

namespace assay::bound {

Node TransposedMatrix(BoundContext& c, Node a) {
  if (!a) return a;
  Instruction transpose(Opcode::kTranspose);
  Ints order(static_cast<size_t>(c.ShapeOf(a).rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  transpose.attributes.Set(Attr::kDimensions, std::move(order));
  transpose.operands = {a.id};
  return c.Write(std::move(transpose));
}

Node MatrixProduct(BoundContext& c, Node a, Node b, bool transpose_b) {
  if (!a || !b) return Node();
  const int64_t rank = c.ShapeOf(a).rank();
  Ints batch(static_cast<size_t>(rank - 2));
  std::iota(batch.begin(), batch.end(), 0);
  Instruction dot(Opcode::kDot);
  dot.attributes.Set(Attr::kLhsBatchDims, batch);
  dot.attributes.Set(Attr::kRhsBatchDims, batch);
  dot.attributes.Set(Attr::kLhsContractingDims, Ints{rank - 1});
  dot.attributes.Set(Attr::kRhsContractingDims, Ints{transpose_b ? rank - 1 : rank - 2});
  dot.operands = {a.id, b.id};
  return c.Write(std::move(dot));
}

Node WhereRow(BoundContext& c, std::string_view direction, Node like) {
  Shape shape = c.ShapeOf(like);
  shape.set_element_type(ElementType::kS32);
  const auto shared = std::make_shared<const Shape>(shape);
  const auto number = [&](int64_t dimension) {
    Instruction iota(Opcode::kIota);
    iota.attributes.Set(Attr::kIotaDimension, dimension);
    iota.shape = shared;
    return c.Write(std::move(iota));
  };
  const Node row = number(shape.rank() - 2), column = number(shape.rank() - 1);
  return c.Compare(direction, row, column);
}

Node Triangle(BoundContext& c, Node a, bool is_lower) {
  return !a ? a : c.Choose(WhereRow(c, is_lower ? "GE" : "LE", a), a, Node());
}

Node IdentityLike(BoundContext& c, Node like) {
  const ElementType type = c.ShapeOf(like).element_type();
  return c.ConvertTo(c.ConvertTo(WhereRow(c, "EQ", like), RadiusType(type)), type);
}

InverseBound::InverseBound(BoundContext& c, Node inverse, Node reach, bool is_lower)
    : c_(c), is_lower_(is_lower), inverse_(Triangle(c, c.Magnitude(inverse), is_lower)) {
  const Node e = c.Times(MatrixProduct(c, reach, inverse_), Slack(c.ShapeOf(inverse_).element_type()));
  const Node diagonal = WhereRow(c, "EQ", e);
  // 1 - e is rounded.
  const Node below = c.Times(OneMinus(c, e), 2 - Slack(c.ShapeOf(e).element_type()));
  const Node at_least_zero = c.Choose(c.Compare("LE", below, 0), Node(), below);
  rest_ = c.Choose(diagonal, at_least_zero, c.Write(Opcode::kNegate, {e}));
}

// Each unknown of the solve is a sum of numbers that are not negative, rounded, divided and rounded: it is
// at least the real one times (1 - u)^(2 n), and so is Q z, which is this solve's result times |X|.
Node InverseBound::Times(Node z) const {
  if (!z) return z;
  const Shape& shape = c_.ShapeOf(rest_);
  const double n = static_cast<double>(shape.size(shape.rank() - 1));
  const double unit = shape.element_type() == ElementType::kF64 ? 0x1p-53 : 0x1p-24;
  Instruction solve(Opcode::kTriangularSolve);
  solve.attributes.Set(Attr::kLeftSide, true);
  solve.attributes.Set(Attr::kLower, is_lower_);
  solve.attributes.Set(Attr::kUnitDiagonal, false);
  solve.attributes.Set(Attr::kTransposeA, Word{"NO_TRANSPOSE"});
  solve.operands = {rest_.id, z.id};
  const Node solved = c_.Write(std::move(solve));
  return c_.Times(MatrixProduct(c_, inverse_, solved),
                  Slack(shape.element_type()) * std::exp((2 * n + 4) * 1.01 * unit));
}

}  // namespace assay::bound
