#include "engines/native/scatter_gather/index_vectors.h"

#include <algorithm>
#include <vector>

#include "evaluator/shape_rules.h"

namespace assay::native {

absl::Status ForEachIndexVector(const Literal& indices, int64_t index_vector_dim, const AffineMap& a,
                                const AffineMap& b, IndexStripFn fn) {
  const Shape& shape = indices.shape();
  const int bytes = Bytes(shape.element_type());
  const DimVector strides = RowMajorStrides(shape.sizes());
  const int64_t vector_size = IndexVectorSize(shape, index_vector_dim);
  const int64_t vector_stride = index_vector_dim == shape.rank() ? 0 : strides[index_vector_dim];
  DimVector sizes;
  AffineMap maps[] = {{}, a, b};
  for (int64_t d : IndexBatchDims(shape, index_vector_dim)) {
    sizes.push_back(indices.dynamic_size(d));
    maps[0].strides.push_back(strides[d]);
  }
  std::vector<int64_t> components(std::max<int64_t>(vector_size, 1) * kStrip);
  absl::Status status;
  ForEachRun(sizes, maps, [&](const int64_t* offsets, const int64_t* steps, int64_t length) {
    for (int64_t first = 0; first < length && status.ok(); first += kStrip) {
      const int64_t n = std::min(kStrip, length - first);
      for (int64_t k = 0; k < vector_size; ++k) {
        const int64_t at = offsets[0] + first * steps[0] + k * vector_stride;
        LoadIndices(shape.element_type(), indices.data() + at * bytes, steps[0] * bytes, n,
                    &components[k * kStrip]);
      }
      const int64_t bases[] = {offsets[1] + first * steps[1], offsets[2] + first * steps[2]};
      status = fn(n, components.data(), bases, steps + 1);
    }
  });
  return status;
}

}  // namespace assay::native
