// What dot, ragged-dot and scaled-dot share: dimension numbers, the shape rule, and the loops.
#ifndef ASSAY_EVALUATOR_OPS_DOT_DIMS_H_
#define ASSAY_EVALUATOR_OPS_DOT_DIMS_H_

#include <span>
#include <vector>

#include "evaluator/ops/contraction.h"
#include "evaluator/ops/loops.h"
#include "literal/literal.h"

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
// batch sizes, lhs free sizes, rhs free sizes; dynamic flags copied.
absl::StatusOr<Shape> DotShape(const InferContext& context, const DotDims& dims, ElementType type);

// One array of a dot: where it starts and how many elements one step in each dimension is.
struct DotArray {
  const std::byte* data = nullptr;
  ElementType type = ElementType::kPred;
  DimVector sizes, strides;  // sizes at run time
};
DotArray ArrayOf(const Literal& literal);
// The same of a static shape, without data.
DotArray StaticArrayOf(const Shape& shape);

// A rectangular part of the contraction's index space. Arrays of the loops: 0 lhs, 1 rhs, 2 result.
struct DotBox {
  int64_t lhs_base = 0, rhs_base = 0, result_base = 0;
  LoopDims batch, rows, columns;
  // The contracted indices, as one or more boxes, each with its own bases (array 2 unused).
  struct Contracted {
    int64_t lhs_base = 0, rhs_base = 0;
    LoopDims loops;
  };
  std::vector<Contracted> contracted;
};

// result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], for every index of the box.
absl::Status RunDot(const Contraction& contraction, const DotArray& lhs, const DotArray& rhs,
                    const DotBox& box, std::byte* result, Meter& meter);

// DYN-4: paired dimensions have the same run-time sizes.
absl::Status CheckDotRuntimeSizes(const EvalContext& context, const DotDims& dims, const DotArray& lhs,
                                  const DotArray& rhs);
// The whole index space of a dot; `result` strides in the order batch, lhs free, rhs free.
DotBox WholeDot(const DotDims& dims, const DotArray& lhs, const DotArray& rhs,
                std::span<const int64_t> result_strides);
// Run-time sizes of the result in that order.
DimVector DotSizes(const DotDims& dims, const DotArray& lhs, const DotArray& rhs);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_DOT_DIMS_H_
