// How kernels find elements: an index over some dimensions, row-major, to an offset.
#ifndef ASSAY_GPU_KERNELS_STRIDES_H_
#define ASSAY_GPU_KERNELS_STRIDES_H_

#include <cstdint>

namespace assay::gpu {

constexpr int kMaxDimensions = 8;

// The last dimension varies fastest. Strides are in elements and may be zero or negative.
struct Strides {
  int32_t rank;
  int64_t sizes[kMaxDimensions];
  int64_t strides[kMaxDimensions];
};

constexpr int64_t SizeOf(const Strides& dimensions) {
  int64_t size = 1;
  for (int32_t d = 0; d < dimensions.rank; ++d) size *= dimensions.sizes[d];
  return size;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_STRIDES_H_
