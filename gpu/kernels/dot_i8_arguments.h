// Arguments of the kernels of dot_i8.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], modulo
// 2^32, for operands of bytes. The last letters of a kernel's name say which operands are signed (s) or not
// (u). Integers of fewer bits are bytes in memory, with their sign or zeros above.
#ifndef ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/strides.h"

namespace assay::gpu {

// Element (b, row, k) is the sum of the three offsets from `address` on.
struct ByteOperand {
  uint64_t address;
  Strides batch, rows, depth;
};

// dot_i8_ss, dot_i8_su, dot_i8_us and dot_i8_uu: ByteDotBlocks blocks of kByteDotThreads threads.
struct ByteDotArguments {
  ByteOperand lhs, rhs;
  uint64_t result;
  // Of the result, in elements: for the dimensions of the batch, of m and of n.
  int64_t batch_strides[kMaxDimensions], row_strides[kMaxDimensions], column_strides[kMaxDimensions];
  int32_t result_bytes;  // 1, 2 or 4: the low bytes of the sum
  // Of results of one byte: how many of a word's 32 bits the type does not have, 24 and more,
  // and whether they repeat its sign.
  int32_t unused_bits;
  int32_t result_is_signed;
};
constexpr int kByteDotThreads = 256, kByteDotRows = 128, kByteDotColumns = 128;
constexpr int kByteDotDepth = 64, kByteDotPitch = 80,
              kByteDotStages = 4;  // bytes of k, bytes between rows, stages
constexpr uint32_t kByteDotSharedBytes =
    (kByteDotRows + kByteDotColumns) * (kByteDotPitch * kByteDotStages + 8);
constexpr int64_t ByteDotBlocks(const ByteDotArguments& a) {
  return SizeOf(a.lhs.batch) * ((SizeOf(a.lhs.rows) + kByteDotRows - 1) / kByteDotRows) *
         ((SizeOf(a.rhs.rows) + kByteDotColumns - 1) / kByteDotColumns);
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_
