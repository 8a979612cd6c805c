#include "evaluator/ops/indexing/start_indices.h"

#include "literal/element_io.h"

namespace assay {

StartIndices::StartIndices(const Literal& indices, int64_t index_vector_dim)
    : indices_(indices),
      type_(indices.shape().element_type()),
      index_vector_dim_(index_vector_dim),
      index_(indices.shape().rank()) {}

int64_t StartIndices::At(Index batch_index, int64_t k) {
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(index_.size()); ++d) {
    index_[d] = d == index_vector_dim_ ? k : batch_index[next++];
  }
  return LoadIndex(type_, indices_.At(index_));
}

}  // namespace assay
