// What dot, ragged-dot and scaled-dot share: dimension numbers and the shape rule.
#ifndef ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_DIMS_H_
#define ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_DIMS_H_

#include <span>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

// Dimension numbers of one operand by role, in the order of the result (batch and contracting: as listed;
// free: ascending).
struct DotSide {
  DimVector batch, contracting, free;
};
struct DotDims {
  DotSide lhs, rhs;
};

// DotGeneral-C1 to C4, with `op` in the label. Operands 0 and 1 are arrays.
absl::StatusOr<DotDims> CheckDotDims(const InferContext& context, std::string_view op);
// The same from attributes that have been checked.
DotDims DotDimsOf(const AttributeMap& attributes, int64_t lhs_rank, int64_t rhs_rank);
// The work of dot and scaled-dot.
Work WorkOfDot(const InstructionView& view);
// batch sizes, lhs free sizes, rhs free sizes; dynamic flags copied.
absl::StatusOr<Shape> DotShape(const InferContext& context, const DotDims& dims, ElementType type);

// DYN-4: gives paired dimensions one run-time size, that of the dynamic one where the other is static.
absl::Status JoinDotSizes(const EvalContext& context, const DotDims& dims, std::span<const Literal> operands,
                          DimVector& lhs_sizes, DimVector& rhs_sizes);
// Sizes of the result: batch, lhs free, rhs free.
DimVector DotSizes(const DotDims& dims, std::span<const int64_t> lhs_sizes,
                   std::span<const int64_t> rhs_sizes);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_DIMS_H_
