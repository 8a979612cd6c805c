// Small scalar computations: combiners for reductions, comparators for sort.
#include "builder/internal.h"

namespace assay::builder {
namespace {

using BinaryFn = XlaOp (*)(XlaOp, XlaOp, Int64s);

absl::StatusOr<XlaComputation> ScalarComputation(const std::string& name, ElementType type, BinaryFn f) {
  XlaBuilder builder(fmt::format("{}_{}", name, assay::Name(type)));
  const Shape scalar = Shape::Scalar(type);
  const XlaOp a = Parameter(&builder, 0, scalar, "a");
  const XlaOp b = Parameter(&builder, 1, scalar, "b");
  return builder.Build(f(a, b, {}));
}

// Parameters 2k and 2k+1 are of operand k's type; operand 0 decides.
absl::StatusOr<XlaComputation> ScalarComparator(const std::string& name,
                                                const std::vector<ElementType>& operand_types, BinaryFn f) {
  if (operand_types.empty()) return InvalidProgram({}, fmt::format("{}: no operand types", name));
  XlaBuilder builder(name);
  XlaOp lhs, rhs;
  for (size_t k = 0; k < operand_types.size(); ++k) {
    const Shape scalar = Shape::Scalar(operand_types[k]);
    const auto number = static_cast<int64_t>(2 * k);
    const XlaOp l = Parameter(&builder, number, scalar, fmt::format("p.{}.lhs", k));
    const XlaOp r = Parameter(&builder, number + 1, scalar, fmt::format("p.{}.rhs", k));
    if (k == 0) std::tie(lhs, rhs) = std::make_pair(l, r);
  }
  return builder.Build(f(lhs, rhs, {}));
}

}  // namespace

absl::StatusOr<XlaComputation> CreateScalarAddComputation(ElementType type) {
  return ScalarComputation("add", type, Add);
}
absl::StatusOr<XlaComputation> CreateScalarMultiplyComputation(ElementType type) {
  return ScalarComputation("multiply", type, Mul);
}
absl::StatusOr<XlaComputation> CreateScalarMaxComputation(ElementType type) {
  return ScalarComputation("max", type, Max);
}
absl::StatusOr<XlaComputation> CreateScalarMinComputation(ElementType type) {
  return ScalarComputation("min", type, Min);
}
absl::StatusOr<XlaComputation> CreateScalarOrComputation(ElementType type) {
  return ScalarComputation("or", type, Or);
}
absl::StatusOr<XlaComputation> CreateScalarAndComputation(ElementType type) {
  return ScalarComputation("and", type, And);
}
absl::StatusOr<XlaComputation> CreateScalarGeComputation(ElementType type) {
  return ScalarComputation("ge", type, Ge);
}
absl::StatusOr<XlaComputation> CreateScalarLtComputation(const std::vector<ElementType>& operand_types) {
  return ScalarComparator("compare-less-than", operand_types, LtTotalOrder);
}
absl::StatusOr<XlaComputation> CreateScalarGtComputation(const std::vector<ElementType>& operand_types) {
  return ScalarComparator("compare-greater-than", operand_types, GtTotalOrder);
}

}  // namespace assay::builder
