#include "evaluator/strips.h"

#include <utility>

#include "evaluator/registry.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"

namespace assay {

StripParams ParamsFor(std::span<const ElementType> operands, ElementType result) {
  return {.operand = operands[0], .result = result, .format = Info(result).format};
}

StripKernel KernelFor(const KindStrips& strips, std::span<const ElementType> operands, ElementType result) {
  StripKernel kernel{nullptr, ParamsFor(operands, result)};
  switch (KindOf(operands[0])) {
    case ComputeKind::kBool:
      kernel.fn = strips.boolean;
      break;
    case ComputeKind::kInt64:
      kernel.fn = strips.signed_integer;
      break;
    case ComputeKind::kUint64:
      kernel.fn = strips.unsigned_integer;
      break;
    case ComputeKind::kReal:
      kernel.fn = strips.real;
      break;
    case ComputeKind::kComplex:
      kernel.fn = strips.complex;
      break;
  }
  return kernel;
}

absl::StatusOr<Shape> WithElementType(const Shape& like, ElementType type) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, like.sizes()));
  for (int64_t d = 0; d < like.rank(); ++d) shape.set_dynamic(d, like.is_dynamic(d));
  TakeLayout(like, shape);
  return shape;
}

bool SameOrUnboundedDimensions(const Shape& a, const Shape& b) {
  if (!a.IsArray() || !b.IsArray() || a.rank() != b.rank()) return false;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.size(d) != b.size(d) && a.size(d) != kUnboundedSize && b.size(d) != kUnboundedSize) return false;
  }
  return true;
}

absl::Status CheckDeclared(const InferContext& context, const Shape& inferred, std::string_view label) {
  const Shape* declared = context.declared;
  if (declared == nullptr) return absl::OkStatus();
  if (declared->IsArray() && declared->element_type() == inferred.element_type() &&
      SameOrUnboundedDimensions(*declared, inferred)) {
    return absl::OkStatus();
  }
  return InvalidProgram({}, fmt::format("{}: declared result shape is {}, the operands give {}", label,
                                        declared->ToString(), inferred.ToString()));
}

absl::StatusOr<Shape> JoinDimensions(const Shape& into, const Shape& from) {
  DimVector sizes(into.sizes().begin(), into.sizes().end());
  for (int64_t d = 0; d < into.rank(); ++d) {
    if (sizes[d] == kUnboundedSize) sizes[d] = from.size(d);
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(into.element_type(), sizes));
  for (int64_t d = 0; d < into.rank(); ++d) {
    shape.set_dynamic(d, into.is_dynamic(d) || from.is_dynamic(d));
  }
  TakeLayout(into, shape);
  return shape;
}

absl::StatusOr<Shape> InferUnaryOp(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferUnary(context, DefinitionOf(context.instruction.opcode).types));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "UNARY-C3"));
  return shape;
}

absl::StatusOr<Shape> InferBinaryOp(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferBinary(context, DefinitionOf(context.instruction.opcode).types));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "BINARY-C5"));
  return shape;
}

void WrapResult(const StripParams& params, int64_t n, void* out) {
  if (IsSignedIntegral(params.result)) {
    WrapStrip(params.result, static_cast<int64_t*>(out), n);
  } else {
    WrapStrip(params.result, static_cast<uint64_t*>(out), n);
  }
}

void RoundResult(const StripParams& params, int64_t n, void* out) {
  RoundStripToFormat(static_cast<double*>(out), n, *params.format);
}

void RoundComplexResult(const StripParams& params, int64_t n, void* out) {
  RoundStripToFormat(static_cast<double*>(out), 2 * n, *params.format);
}

}  // namespace assay
