// Counts of the bytes of sort keys, for all passes of a sort at once, by the kernel that makes the keys.
#ifndef ASSAY_GPU_KERNELS_SORT_DIGITS_CUH_
#define ASSAY_GPU_KERNELS_SORT_DIGITS_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/sort_arguments.h"
#include "gpu/kernels/states.cuh"

namespace assay::gpu {

// All threads of all blocks make one, add keys, and call Finish.
class DigitCounts {
 public:
  __device__ __forceinline__ explicit DigitCounts(const SortCounts& a)
      : a_(a), bins_(reinterpret_cast<uint32_t*>(SharedMemory())) {
    for (uint32_t i = threadIdx.x; i < static_cast<uint32_t>(a.passes) * kSortDigits; i += blockDim.x)
      bins_[i] = 0;
    SyncThreads();
  }
  template <typename Word>
  __device__ __forceinline__ void Add(Word key) const {
    for (int32_t p = 0; p < a_.passes; ++p)
      AtomicAdd(bins_ + p * kSortDigits + (static_cast<uint32_t>(key >> (8 * p)) & (kSortDigits - 1)), 1);
  }
  // The last block makes sums of the counts: a warp a pass, eight digits a lane.
  __device__ __forceinline__ void Finish() const {
    SyncThreads();
    auto* const counts = reinterpret_cast<uint32_t*>(a_.counts);
    const auto bins = static_cast<uint32_t>(a_.passes) * kSortDigits;
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x) {
      if (bins_[i] != 0) AtomicAdd(counts + i, bins_[i]);
    }
    if (!IsLastBlock(reinterpret_cast<uint32_t*>(a_.counter), gridDim.x, bins_ + bins)) return;
    constexpr uint32_t kOfLane = kSortDigits / 32;
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t p = threadIdx.x / 32; p < static_cast<uint32_t>(a_.passes); p += blockDim.x / 32) {
      const uint32_t first = p * kSortDigits + lane * kOfLane;
      uint32_t own[kOfLane], sum = 0;
#pragma unroll
      for (uint32_t j = 0; j < kOfLane; ++j) {
        own[j] = sum;
        sum += LoadPast(counts + first + j);
      }
      uint32_t up_to = sum;
#pragma unroll
      for (uint32_t by = 1; by < 32; by *= 2) {
        const uint32_t below = ShuffleUp(up_to, by);
        if (lane >= by) up_to += below;
      }
#pragma unroll
      for (uint32_t j = 0; j < kOfLane; ++j)
        reinterpret_cast<uint32_t*>(a_.bases)[first + j] = own[j] + up_to - sum;
    }
  }

 private:
  const SortCounts& a_;
  uint32_t* const bins_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SORT_DIGITS_CUH_
