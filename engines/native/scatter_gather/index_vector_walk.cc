#include "engines/native/scatter_gather/index_vector_walk.h"

#include "evaluator/shape_rules.h"

namespace assay::native {

IndexVectorWalk::IndexVectorWalk(const IndexKernels& kernels, const Literal& indices,
                                 int64_t index_vector_dim, const AffineMap& a, const AffineMap& b)
    : kernels_(kernels),
      type_(indices.shape().element_type()),
      data_(indices.data()),
      bases_{0, a.base, b.base} {
  const Shape& shape = indices.shape();
  const DimVector strides = RowMajorStrides(shape.sizes());
  vector_size_ = IndexVectorSize(shape, index_vector_dim);
  vector_stride_ = index_vector_dim == shape.rank() ? 0 : strides[index_vector_dim];
  LoopDims dims;
  for (int64_t d : IndexBatchDims(shape, index_vector_dim)) {
    const size_t k = dims.size();
    dims.push_back({indices.dynamic_size(d), {strides[d], a.strides[k], b.strides[k]}});
  }
  count_ = LoopCount(dims);
  outer_ = MergeLoops(dims);
  run_ = TakeInnermostLoop(outer_);
}

const int32_t* IndexVectorWalk::contiguous_indices() const {
  const bool contiguous = type_ == ElementType::kS32 && vector_size_ == 1 && is_one_run() &&
                          run_.strides[0] == 1 && run_.strides[2] == 0;
  return contiguous ? reinterpret_cast<const int32_t*>(data_) : nullptr;
}

std::array<int64_t, kLoopArrays> IndexVectorWalk::OffsetsOf(int64_t i) const {
  std::array<int64_t, kLoopArrays> at = bases_;
  const auto add = [&](const LoopDim& dim) {
    for (int k = 0; k < kLoopArrays; ++k) at[k] += i % dim.size * dim.strides[k];
    i /= dim.size;
  };
  add(run_);
  for (size_t d = outer_.size(); d-- > 0;) add(outer_[d]);
  return at;
}

int64_t IndexVectorWalk::Load(int64_t begin, int64_t most, int64_t* components) const {
  const int64_t n = std::min(most, run_.size - begin % run_.size), bytes = Bytes(type_);
  const std::byte* const from = data_ + OffsetsOf(begin)[0] * bytes;
  for (int64_t k = 0; k < vector_size_; ++k) {
    const std::byte* const component = from + k * vector_stride_ * bytes;
    if (type_ == ElementType::kS32 && run_.strides[0] == 1) {
      kernels_.widen_s32(n, reinterpret_cast<const int32_t*>(component), components + k * kStrip);
    } else {
      LoadIndices(type_, component, run_.strides[0] * bytes, n, components + k * kStrip);
    }
  }
  return n;
}

}  // namespace assay::native
