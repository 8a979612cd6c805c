// Arguments of the kernels of widen.cu: to[i] = from[i] as f32 or bf16, exactly, for i below `count`. Dots
// and sums of narrow types are dots and sums of f32 with another type of result.
#ifndef ASSAY_GPU_KERNELS_WIDEN_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_WIDEN_ARGUMENTS_H_

#include <cstdint>

namespace assay::gpu {

// widen_bf16, widen_f16, and widen_8 and widen_8_bf16 for every type of 8 bits. Any number of blocks of
// kWidenThreads threads.
struct WidenArguments {
  uint64_t from, to;
  int64_t count;
  uint64_t table;  // float [256], of widen_8 and widen_8_bf16
};
constexpr int kWidenThreads = 256;
constexpr uint32_t kWidenTableBytes = 256 * sizeof(float);  // of shared memory, for widen_8

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_WIDEN_ARGUMENTS_H_
