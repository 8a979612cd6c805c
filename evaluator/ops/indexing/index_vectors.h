// The index operand of gather and scatter: an array of index vectors, one for each index G of its other
// dimensions B (docs/spec/operations-shape.md, Gather).
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_INDEX_VECTORS_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_INDEX_VECTORS_H_

#include <cstdint>

#include "shape/shape.h"

namespace assay {

// The size of an index vector, and the dimensions B in order: all but index_vector_dim, which may be one past
// the last (index vectors of one component).
int64_t IndexVectorSize(const Shape& indices, int64_t index_vector_dim);
DimVector IndexBatchDims(const Shape& indices, int64_t index_vector_dim);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_INDEX_VECTORS_H_
