// The shape rules UNARY and BINARY (docs/spec/operations-elementwise.md, shared constraints). The ops
// themselves are in ops/.
#include "evaluator/elementwise.h"

#include "evaluator/strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

absl::Status CheckArray(const InferContext& context, int64_t k, std::string_view label) {
  if (context.operand(k).IsArray()) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}: operand {} is {}, wanted an array", label, k, context.operand(k).ToString()));
}

absl::Status CheckType(ElementType type, TypeSet types, std::string_view label) {
  if (types.Has(type)) return absl::OkStatus();
  return InvalidProgram({},
                        fmt::format("{}: element type {} is not supported by this op", label, Name(type)));
}

}  // namespace

absl::StatusOr<Shape> InferUnary(const InferContext& context, TypeSet types) {
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 0, "UNARY-C1"));
  const Shape& operand = context.operand(0);
  ASSAY_RETURN_IF_ERROR(CheckType(operand.element_type(), types, "UNARY-C2"));
  return WithElementType(operand, operand.element_type());
}

absl::StatusOr<Shape> InferBinary(const InferContext& context, TypeSet types) {
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 0, "BINARY-C1"));
  ASSAY_RETURN_IF_ERROR(CheckArray(context, 1, "BINARY-C1"));
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  if (lhs.element_type() != rhs.element_type()) {
    return InvalidProgram({}, fmt::format("BINARY-C2: element types are {} and {}, wanted the same",
                                          Name(lhs.element_type()), Name(rhs.element_type())));
  }
  if (!SameOrUnboundedDimensions(lhs, rhs)) {
    return InvalidProgram({}, fmt::format("BINARY-C3: operands are {} and {}, wanted the same dimensions",
                                          lhs.ToString(), rhs.ToString()));
  }
  ASSAY_RETURN_IF_ERROR(CheckType(lhs.element_type(), types, "BINARY-C4"));
  return JoinDimensions(lhs, rhs);
}

}  // namespace assay
