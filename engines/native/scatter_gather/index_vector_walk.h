// The index vectors of gather and scatter for threads: any part of the walk of index_vectors.h.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTOR_WALK_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTOR_WALK_H_

#include <algorithm>
#include <vector>

#include "engines/native/scatter_gather/index_kernels.h"
#include "engines/native/walk/loops.h"
#include "evaluator/ops/indexing/index_vectors.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay::native {

class IndexVectorWalk {
 public:
  // a, b: maps over B, in elements.
  IndexVectorWalk(const IndexKernels& kernels, const Literal& indices, int64_t index_vector_dim,
                  const AffineMap& a, const AffineMap& b);

  int64_t count() const { return count_; }
  // Whether vector i is at base + i * step under both maps.
  bool is_one_run() const { return outer_.empty(); }
  int64_t a_step() const { return run_.strides[1]; }
  // The indices where vectors are single s32 that lie one behind the other and all have the same b;
  // else null.
  const int32_t* contiguous_indices() const;
  int64_t a() const { return bases_[1]; }  // of the first vector
  int64_t b() const { return bases_[2]; }

  // Some of the vectors [begin, end) in order: n of them, component k of the i-th at components[k * kStrip +
  // i]; the first is at a and b, each next one by the steps further.
  struct Strip {
    int64_t n;
    const int64_t* components;
    int64_t first, a, a_step, b, b_step;  // first: the number of the first vector
  };
  template <class Fn>
  void Run(int64_t begin, int64_t end, const Fn& fn) const {
    std::vector<int64_t> components(std::max<int64_t>(vector_size_, 1) * kStrip);
    while (begin < end) {
      const int64_t n = Load(begin, std::min(kStrip, end - begin), components.data());
      std::array<int64_t, kLoopArrays> at = OffsetsOf(begin);
      fn(Strip{n, components.data(), begin, at[1], run_.strides[1], at[2], run_.strides[2]});
      begin += n;
    }
  }

 private:
  std::array<int64_t, kLoopArrays> OffsetsOf(int64_t i) const;
  // The components of up to `most` vectors from `begin` on, of one run; returns how many.
  int64_t Load(int64_t begin, int64_t most, int64_t* components) const;

  const IndexKernels& kernels_;
  const ElementType type_;
  const std::byte* const data_;
  const std::array<int64_t, kLoopArrays> bases_;
  int64_t vector_size_, vector_stride_, count_;
  LoopDims outer_;  // array 0: the indices, 1: a, 2: b
  LoopDim run_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTOR_WALK_H_
