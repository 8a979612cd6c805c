// Narrow floats as f32, or bf16, which holds all their values. A NaN stays one.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/widen_arguments.h"

namespace assay::gpu {

KERNEL(widen_bf16, WidenArguments, kWidenThreads) {
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    reinterpret_cast<uint32_t*>(a.to)[i] = static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(a.from)[i])
                                           << 16;
  }
}

KERNEL(widen_f16, WidenArguments, kWidenThreads) {
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    reinterpret_cast<float*>(a.to)[i] = HalfToFloat(reinterpret_cast<const uint16_t*>(a.from)[i]);
  }
}

// By a table, which a block has in shared memory: 1 KiB.
KERNEL(widen_8, WidenArguments, kWidenThreads) {
  auto* const table = reinterpret_cast<float*>(SharedMemory());
  for (int i = threadIdx.x; i < 256; i += blockDim.x) table[i] = reinterpret_cast<const float*>(a.table)[i];
  SyncThreads();
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    reinterpret_cast<float*>(a.to)[i] = table[reinterpret_cast<const uint8_t*>(a.from)[i]];
  }
}

// The same as bf16, which has all numbers of such types.
KERNEL(widen_8_bf16, WidenArguments, kWidenThreads) {
  auto* const table = reinterpret_cast<uint16_t*>(SharedMemory());
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    table[i] = static_cast<uint16_t>(BitsAs<uint32_t>(reinterpret_cast<const float*>(a.table)[i]) >> 16);
  }
  SyncThreads();
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    reinterpret_cast<uint16_t*>(a.to)[i] = table[reinterpret_cast<const uint8_t*>(a.from)[i]];
  }
}

}  // namespace assay::gpu
