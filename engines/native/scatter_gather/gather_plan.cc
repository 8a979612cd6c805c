#include "engines/native/scatter_gather/gather_plan.h"

#include <algorithm>

#include "evaluator/ops/indexing/gather.h"
#include "evaluator/ops/indexing/index_vectors.h"
#include "evaluator/shape_rules.h"

namespace assay::native {
namespace {

GatherPlan MakeGatherPlan(const Literal& operand, const Literal& indices, const Shape& result,
                          const GatherNumbers& g) {
  GatherPlan plan{.indices = &indices, .index_vector_dim = g.index_vector_dim};
  const DimVector operand_strides = RowMajorStrides(operand.shape().sizes());
  const DimVector result_strides = RowMajorStrides(result.sizes());
  const DimVector batch_dims = IndexBatchDims(indices.shape(), g.index_vector_dim);
  const DimVector offset_operand_dims = g.OffsetOperandDims(operand.shape().rank());
  // A slice of a whole dynamic dimension has its run-time size.
  const auto slice_size = [&](int64_t d) {
    return g.slice_sizes[d] == operand.shape().size(d) ? operand.dynamic_size(d) : g.slice_sizes[d];
  };
  for (int64_t i = 0; i < result.rank(); ++i) {
    if (Contains(g.offset_dims, i)) {
      const int64_t d = offset_operand_dims[plan.slice.size()];
      plan.slice.push_back(slice_size(d));
      plan.from_strides.push_back(operand_strides[d]);
      plan.to_strides.push_back(result_strides[i]);
      plan.sizes.push_back(slice_size(d));
    } else {
      plan.sizes.push_back(indices.dynamic_size(batch_dims[plan.out.strides.size()]));
      plan.out.strides.push_back(result_strides[i]);
    }
  }
  plan.batch.strides.assign(batch_dims.size(), 0);
  for (size_t k = 0; k < g.operand_batching_dims.size(); ++k) {
    plan.batch.strides[g.BatchPosition(g.start_indices_batching_dims[k])] =
        operand_strides[g.operand_batching_dims[k]];
  }
  for (int64_t d : g.start_index_map) {
    // Decision: gather-oob-clamp
    plan.limits.push_back(std::max<int64_t>(operand.dynamic_size(d) - slice_size(d), 0));
    plan.strides.push_back(operand_strides[d]);
  }
  return plan;
}

}  // namespace

absl::StatusOr<Literal> RunGather(EvalContext& context, std::span<Literal> operands, GatherMoveFn move) {
  const Literal& operand = operands[0];
  const GatherNumbers g(context.attributes());
  const GatherPlan plan = MakeGatherPlan(operand, operands[1], context.result_shape(), g);
  // Elements of empty collapsed slices, if the result has any, are zero.
  const bool nothing = operand.shape().num_elements() == 0 || Contains(g.slice_sizes, 0);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, plan.sizes, nothing));
  if (nothing) return result;
  ASSAY_RETURN_IF_ERROR(move(plan, operand, result));
  return result;
}

}  // namespace assay::native
