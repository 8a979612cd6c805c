// Offsets of elements by their indices.
#ifndef ASSAY_GPU_KERNELS_INDEX_CUH_
#define ASSAY_GPU_KERNELS_INDEX_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/strides.h"

namespace assay::gpu {

// *index becomes its quotient by `size`, and the remainder is returned.
// Divisions of 32 bits cost a quarter of those of 64.
__device__ __forceinline__ int64_t SplitIndex(int64_t* index, int64_t size) {
  if (((static_cast<uint64_t>(*index) | static_cast<uint64_t>(size)) >> 32) == 0) {
    const auto narrow = static_cast<uint32_t>(*index), divisor = static_cast<uint32_t>(size);
    *index = narrow / divisor;
    return narrow % divisor;
  }
  const int64_t rest = *index % size;
  *index /= size;
  return rest;
}

// The offset of an index by `strides`, which need not be those of the dimensions.
__device__ __forceinline__ int64_t OffsetByDivisions(const Strides& dimensions, const int64_t* strides,
                                                     int64_t index) {
  int64_t offset = 0;
#pragma unroll 1
  for (int d = dimensions.rank - 1; d > 0; --d)
    offset += SplitIndex(&index, dimensions.sizes[d]) * strides[d];
  return offset + index * strides[0];
}
__device__ __forceinline__ int64_t OffsetOf(const Strides& dimensions,
                                            const int64_t (&strides)[kMaxDimensions], int64_t index) {
  if (dimensions.rank == 0) return 0;
  return dimensions.rank == 1 ? index * strides[0] : OffsetByDivisions(dimensions, strides, index);
}
__device__ __forceinline__ int64_t OffsetOf(const Strides& dimensions, int64_t index) {
  return OffsetOf(dimensions, dimensions.strides, index);
}

__device__ __forceinline__ int64_t InnermostStride(const Strides& dimensions) {
  return dimensions.rank == 0 ? 0 : dimensions.strides[dimensions.rank - 1];
}

// This thread's number in the grid, and how many there are.
__device__ __forceinline__ int64_t GridThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t GridThreads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_INDEX_CUH_
