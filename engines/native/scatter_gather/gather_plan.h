// The geometry of a gather as strides (docs/spec/operations-shape.md, Gather): each index vector moves one
// slice.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_PLAN_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_PLAN_H_

#include <span>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"
#include "shape/index.h"

namespace assay::native {

// What the loop over G needs, in elements.
struct GatherPlan {
  const Literal* indices = nullptr;
  int64_t index_vector_dim = 0;
  DimVector sizes;                            // of the result, at run time
  DimVector slice, from_strides, to_strides;  // the moved slice: sizes and strides of both sides
  AffineMap out, batch;                       // over B: to the result; to the operand by batching dimensions
  // Component k of an index vector has these: the largest start, and the operand's stride.
  DimVector limits, strides;
};

// A gather whose slices `move` moves. It is called where there are slices with elements.
using GatherMoveFn =
    absl::FunctionRef<absl::Status(const GatherPlan& plan, const Literal& operand, Literal& result)>;
absl::StatusOr<Literal> RunGather(EvalContext& context, std::span<Literal> operands, GatherMoveFn move);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_PLAN_H_
