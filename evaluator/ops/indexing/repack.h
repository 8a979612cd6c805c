// How reshape carries dynamic dimensions over (docs/spec/operations-shape.md, Reshape and DynamicReshape).
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_REPACK_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_REPACK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/eval_context.h"

namespace assay {

// Neighbouring dimensions [in_begin, in_end) of the operand and [out_begin, out_end) of the result with equal
// products of bounds: the reshape maps each group on its own.
struct ReshapeGroup {
  int64_t in_begin, in_end, out_begin, out_end;
};
std::vector<ReshapeGroup> ReshapeGroups(std::span<const int64_t> in, std::span<const int64_t> out);

// A group with a dynamic operand dimension has a dynamic result dimension: those that the result declares,
// else `inferred` if it is in the group, else the most major one that is not of size 1.
void TransferDynamicFlag(const Shape& operand, const ReshapeGroup& group, int64_t inferred, Shape& result);

// The run-time sizes of a reshape's result. Each group keeps its number of live elements: one dynamic
// dimension of the result, `inferred` if it is one of the group, else the most major one that is not of size
// 1, is that number divided by the sizes of the group's other dimensions, which have their bounds. EvalError
// where the division leaves a rest.
// Decision: reshape-dynamic-split
absl::StatusOr<DimVector> ReshapedSizes(const Literal& operand, const Shape& result, int64_t inferred);

// The live elements of `operand` in row-major order as the live elements of a result with run-time sizes
// `sizes` (as many).
absl::StatusOr<Literal> RepackLive(EvalContext& context, const Literal& operand,
                                   std::span<const int64_t> sizes);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_REPACK_H_
