// The index operand of gather and scatter, read one component of an index vector at a time.
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_START_INDICES_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_START_INDICES_H_

#include <cstdint>

#include "evaluator/elements.h"

namespace assay {

class StartIndices {
 public:
  // `indices` outlives it.
  StartIndices(const Literal& indices, int64_t index_vector_dim);
  // start_index[k] = indices[batch_index with k at index_vector_dim]; a u64 above 2^63 - 1 gives 2^63 - 1.
  // Where index_vector_dim is the rank of the indices, vectors have one component, indices[batch_index].
  int64_t At(Index batch_index, int64_t k);

 private:
  const ArrayView indices_;
  const ElementType type_;
  const int64_t index_vector_dim_;
  DimVector index_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_START_INDICES_H_
