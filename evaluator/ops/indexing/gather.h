// The dimension numbers of a gather (docs/spec/operations-shape.md, Gather).
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_GATHER_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_GATHER_H_

#include <cstdint>
#include <span>

#include "hlo/attribute.h"
#include "shape/shape.h"

namespace assay {

struct GatherNumbers {
  // `attributes` outlives it.
  explicit GatherNumbers(const AttributeMap& attributes)
      : offset_dims(attributes.List(Attr::kOffsetDims)),
        collapsed_slice_dims(attributes.List(Attr::kCollapsedSliceDims)),
        start_index_map(attributes.List(Attr::kStartIndexMap)),
        operand_batching_dims(attributes.List(Attr::kOperandBatchingDims)),
        start_indices_batching_dims(attributes.List(Attr::kStartIndicesBatchingDims)),
        index_vector_dim(attributes.Int(Attr::kIndexVectorDim)) {
    // slice_sizes is a list of numbers here and of lists on other ops.
    if (const auto* ints = std::get_if<Ints>(attributes.Find(Attr::kSliceSizes))) slice_sizes = *ints;
  }
  std::span<const int64_t> offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims,
      start_indices_batching_dims, slice_sizes;
  int64_t index_vector_dim;

  // Operand dimensions that offset_dims stand for, in order.
  DimVector OffsetOperandDims(int64_t operand_rank) const;
  // Position in B of a dimension of the indices.
  int64_t BatchPosition(int64_t d) const { return d < index_vector_dim ? d : d - 1; }
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_GATHER_H_
