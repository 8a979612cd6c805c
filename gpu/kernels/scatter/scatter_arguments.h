// Arguments of the kernels of scatter.cu. Updates are items of `window` elements each: windows, where any two
// are the same elements of the operand or have none in common, else single elements. Items are sorted by the
// element of the operand that they begin at, stably, so that those of one place are
// neighbours in their own order.
#ifndef ASSAY_GPU_KERNELS_SCATTER_SCATTER_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_SCATTER_SCATTER_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/move_arguments.h"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/kernels/sort_arguments.h"

namespace assay::gpu {

struct ScatterArguments {
  uint64_t updates, indices, result;
  uint64_t keys, order;  // uint32_t [items]; scatter_keys makes the keys alone
  // An item begins at element key * key_stride of the operand; the key of one that is dropped is `keys_end`.
  int64_t key_stride, keys_end;
  SortCounts counts;
  // An item is an index of `batch`, in the updates' order. Strides are in the updates, then in the operand.
  Strides batch, window;
  int64_t batch_to_strides[kMaxDimensions], window_to_strides[kMaxDimensions];
  int64_t batch_index_strides[kMaxDimensions];  // of the components, in indices
  WindowStart starts[kMaxDimensions];           // a window whose index is not in [0, most] is dropped
  int32_t components;
  int32_t index_bytes;
  int32_t index_is_signed;
  int32_t group;  // lanes that take an element of the operand together
  int64_t items;  // fewer than 2^32, times the window too
  FoldingArguments folding;
  // Of sums.
  uint64_t open;        // uint32_t [items * window]
  uint64_t open_count;  // uint32_t, zero before
  Float result_type;
};
constexpr int kScatterThreads = kReduceThreads;
// scatter_keys, with any number of blocks of kScatterThreads threads and SortCountSharedBytes. Behind the
// sort scatter_move_N, scatter_fold_N or scatter_sum_TYPE, with ScatterBlocks blocks; then, of sums,
// scatter_repair_TYPE with any number of blocks of kSumRepairThreads threads and kSumRepairSharedBytes. The
// result holds the operand before.
constexpr int64_t ScatterBlocks(const ScatterArguments& a) {
  return (a.items * SizeOf(a.window) * a.group + kScatterThreads - 1) / kScatterThreads;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SCATTER_SCATTER_ARGUMENTS_H_
