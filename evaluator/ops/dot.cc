// dot (spec/operations-linalg.md, Dot and DotGeneral). ragged-dot and scaled-dot are in files of their own;
// the loops are dot_run.cc, the arithmetic contraction.h.

#include "evaluator/eval_context.h"
#include "evaluator/ops/dot_dims.h"

namespace assay {
namespace {

// out[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, j, k]: b over batch dims, i over lhs free dims, j over
// rhs free dims, k over contracting dims. Without contracting dims: the outer product.

absl::StatusOr<Shape> InferDot(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const DotDims dims, CheckDotDims(context, "DotGeneral"));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 2));
  ASSAY_ASSIGN_OR_RETURN(
      const ElementType type,
      ContractionResultType(context, context.operand(0).element_type(), context.operand(1).element_type()));
  return DotShape(context, dims, type);
}

absl::StatusOr<Literal> EvalDot(EvalContext& context, std::span<Literal> operands) {
  const DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
  const DotDims dims =
      DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
  ASSAY_RETURN_IF_ERROR(CheckDotRuntimeSizes(context, dims, lhs, rhs));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  const Contraction contraction(lhs.type, rhs.type, result.shape().element_type());
  Meter meter(context);
  const DotBox box = WholeDot(dims, lhs, rhs, StridesOf(result));
  ASSAY_RETURN_IF_ERROR(RunDot(contraction, lhs, rhs, box, result.MutableBytes().data(), meter));
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, DotSizes(dims, lhs, rhs));
  return result;
}

constexpr AttrSpec kDotAttributes[] = {
    Optional(Attr::kLhsBatchDims),       Optional(Attr::kRhsBatchDims),
    Optional(Attr::kLhsContractingDims), Optional(Attr::kRhsContractingDims),
    Optional(Attr::kOperandPrecision),   Optional(Attr::kAlgorithm),
};

}  // namespace

constinit const OpDef ops::Dot = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kDotAttributes,
    .infer = InferDot,
    .eval = EvalDot,
};

}  // namespace assay
