#include "engines/native/walk/loops.h"

#include <algorithm>

#include "shape/index.h"

namespace assay::native {

LoopDims MergeLoops(std::span<const LoopDim> dims) {
  for (const LoopDim& dim : dims) {
    if (dim.size == 0) return {dim};
  }
  LoopDims merged;
  for (const LoopDim& dim : dims) {
    if (dim.size == 1) continue;
    bool joins = !merged.empty();
    for (int a = 0; joins && a < kLoopArrays; ++a) {
      joins = merged.back().strides[a] == dim.strides[a] * dim.size;
    }
    if (joins) {
      merged.back().size *= dim.size;
      merged.back().strides = dim.strides;
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

int64_t LoopCount(std::span<const LoopDim> dims) {
  int64_t count = 1;
  for (const LoopDim& dim : dims) {
    if (dim.size == 0) return 0;
  }
  for (const LoopDim& dim : dims) count *= dim.size;
  return count;
}

LoopDim TakeInnermostLoop(LoopDims& dims) {
  if (dims.empty()) return {};
  const LoopDim taken = dims.back();
  dims.pop_back();
  return taken;
}

LoopNest::LoopNest(std::span<const LoopDim> dims) : dims_(dims), index_(dims.size(), 0) {
  done_ = std::any_of(dims.begin(), dims.end(), [](const LoopDim& dim) { return dim.size == 0; });
}

void LoopNest::Next() {
  for (int64_t d = static_cast<int64_t>(dims_.size()) - 1; d >= 0; --d) {
    const LoopDim& dim = dims_[d];
    if (++index_[d] < dim.size) {
      for (int a = 0; a < kLoopArrays; ++a) offsets_[a] += dim.strides[a];
      return;
    }
    index_[d] = 0;
    for (int a = 0; a < kLoopArrays; ++a) offsets_[a] -= dim.strides[a] * (dim.size - 1);
  }
  done_ = true;
}

DimVector StridesOf(const Literal& literal) {
  if (literal.shape().num_elements() == 0) return DimVector(literal.shape().rank(), 0);
  return RowMajorStrides(literal.shape().sizes());
}

}  // namespace assay::native
