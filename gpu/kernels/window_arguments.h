// Arguments of the kernels of window.cu: result[o] is made of init and the elements under the
// window at o (reduce-window).
#ifndef ASSAY_GPU_KERNELS_WINDOW_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_WINDOW_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// Position w of the window at place o meets element p / base_dilation, where p = o * step + w * dilation -
// low is one of an element: not below zero, a multiple of base_dilation, and not beyond the array.
// No such number leaves 62 bits.
struct WindowDimensionArguments {
  int64_t size, stride;  // of the array
  int64_t places;        // of the result
  int64_t window, step, dilation, base_dilation, low;
};

// window_sum_TYPE and window_fold_N, with WindowBlocks blocks of kReduceThreads threads: `group` neighbouring
// lanes, a power of two up to 32, make a result together.
//
// Then, of sums, window_repair_TYPE with any number of blocks of kSumRepairThreads threads and
// kSumRepairSharedBytes. Fewer than 2^32 results.
struct WindowReduceArguments {
  uint64_t input;
  uint64_t init;  // of the input's type
  uint64_t result;
  uint64_t open;             // uint32_t [results], of sums
  uint64_t open_count;       // uint32_t, zero before
  int64_t results, entries;  // entries: positions of the window
  WindowDimensionArguments dimensions[kMaxDimensions];
  int32_t rank;
  int32_t group;
  Float result_type;  // of sums
  FoldingArguments folding;
};

constexpr int64_t WindowBlocks(const WindowReduceArguments& a) {
  return (a.results * a.group + kReduceThreads - 1) / kReduceThreads;
}
}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_WINDOW_ARGUMENTS_H_
