// Indices that are read from memory.
#ifndef ASSAY_GPU_KERNELS_OFFSETS_CUH_
#define ASSAY_GPU_KERNELS_OFFSETS_CUH_

#include "gpu/kernels/device.cuh"

namespace assay::gpu {

// Element `at` of an array of integers of so many bytes; INT64_MAX for all that are beyond.
__device__ __forceinline__ int64_t IndexAt(uint64_t address, int64_t at, int bytes, bool is_signed) {
  if (bytes == 4) {
    const uint32_t bits = reinterpret_cast<const uint32_t*>(address)[at];
    return is_signed ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
  }
  if (bytes == 8) {
    const int64_t index = reinterpret_cast<const int64_t*>(address)[at];
    return !is_signed && index < 0 ? INT64_MAX : index;
  }
  if (bytes == 2) {
    const uint16_t bits = reinterpret_cast<const uint16_t*>(address)[at];
    return is_signed ? static_cast<int16_t>(bits) : static_cast<int64_t>(bits);
  }
  const uint8_t bits = reinterpret_cast<const uint8_t*>(address)[at];
  return is_signed ? static_cast<int8_t>(bits) : static_cast<int64_t>(bits);
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_OFFSETS_CUH_
