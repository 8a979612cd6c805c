#include "evaluator/ops/indexing/index_vectors.h"

#include "evaluator/shape_rules.h"

namespace assay {

int64_t IndexVectorSize(const Shape& indices, int64_t index_vector_dim) {
  return index_vector_dim == indices.rank() ? 1 : indices.size(index_vector_dim);
}

DimVector IndexBatchDims(const Shape& indices, int64_t index_vector_dim) {
  return Remaining(indices.rank(), {&index_vector_dim, 1});
}

}  // namespace assay
