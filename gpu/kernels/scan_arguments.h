// Arguments of the kernels of scan.cu: cumulative sums and folds of the elements of lines.
#ifndef ASSAY_GPU_KERNELS_SCAN_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_SCAN_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// The array is [outer][length][inner]; a line is all elements of the middle dimension, and a result is made
// of init and the elements of its line up to its place, or from it on where `reversed`. Lines are divided
// into `tiles` tiles of the block's threads times kScanItems elements.
//
// scan_sum_TYPE and scan_fold_N: outer * inner * tiles blocks of whole warps, at most kScanThreads threads,
// and ScanSharedBytes. Behind sums follows window_repair_TYPE.
struct ScanArguments {
  uint64_t input;
  uint64_t init;  // of the input's type
  uint64_t result;
  uint64_t ticket;  // uint32_t, 0
  uint64_t states;  // 16 bytes [blocks], 0
  uint64_t errors;  // of sums: double [2 * blocks]
  uint64_t open;    // of sums, as in WindowReduceArguments
  uint64_t open_count;
  int64_t length, inner;
  uint32_t tiles;
  int32_t reversed;
  Float result_type;  // of sums
  FoldingArguments folding;
};
constexpr int kScanThreads = 256;
constexpr int kScanItems = 16;  // of a thread
constexpr uint32_t kScanStateBytes = 16;
// A tile with one element of padding for each thread, and what the block says to itself.
constexpr uint32_t kScanBlockBytes = 1024;
constexpr uint32_t ScanSharedBytes(int threads, int64_t bytes) {
  return static_cast<uint32_t>((threads * (kScanItems + 1) * bytes + 15) / 16 * 16) + kScanBlockBytes;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SCAN_ARGUMENTS_H_
