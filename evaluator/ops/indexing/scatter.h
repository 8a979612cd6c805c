// The dimension numbers of a scatter (docs/spec/operations-shape.md, Scatter).
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_SCATTER_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_SCATTER_H_

#include <cstdint>
#include <span>

#include "hlo/attribute.h"
#include "shape/shape.h"

namespace assay {

struct ScatterNumbers {
  // `attributes` outlives it.
  explicit ScatterNumbers(const AttributeMap& attributes)
      : update_window_dims(attributes.List(Attr::kUpdateWindowDims)),
        inserted_window_dims(attributes.List(Attr::kInsertedWindowDims)),
        input_batching_dims(attributes.List(Attr::kInputBatchingDims)),
        scatter_indices_batching_dims(attributes.List(Attr::kScatterIndicesBatchingDims)),
        scatter_dims_to_operand_dims(attributes.List(Attr::kScatterDimsToOperandDims)),
        index_vector_dim(attributes.Int(Attr::kIndexVectorDim)) {}
  std::span<const int64_t> update_window_dims, inserted_window_dims, input_batching_dims,
      scatter_indices_batching_dims, scatter_dims_to_operand_dims;
  int64_t index_vector_dim;

  // Operand dimensions that update_window_dims stand for, in order.
  DimVector WindowOperandDims(int64_t operand_rank) const;
  // Position in B of a dimension of the indices.
  int64_t BatchPosition(int64_t d) const { return d < index_vector_dim ? d : d - 1; }
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_SCATTER_H_
