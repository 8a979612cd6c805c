// Sums over the threads before, in a block.
#ifndef ASSAY_GPU_KERNELS_BLOCK_SCAN_CUH_
#define ASSAY_GPU_KERNELS_BLOCK_SCAN_CUH_

#include "gpu/kernels/device.cuh"

namespace assay::gpu {

// The sum of the values of all threads up to this one; *total is that of all. `shared` has room for a number
// a warp. All threads of the block call it, and wait for each other before `shared` is used again.
__device__ __forceinline__ uint32_t InclusiveSum(uint32_t value, uint32_t* shared, uint32_t* total) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
  for (uint32_t by = 1; by < 32; by *= 2) {
    const uint32_t below = ShuffleUp(value, by);
    if (lane >= by) value += below;
  }
  if (lane == 31) shared[warp] = value;
  SyncThreads();
  uint32_t before = 0, all = 0;
  for (uint32_t w = 0; w < warps; ++w) {
    if (w == warp) before = all;
    all += shared[w];
  }
  SyncThreads();
  *total = all;
  return before + value;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_BLOCK_SCAN_CUH_
