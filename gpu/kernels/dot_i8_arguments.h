// Arguments of the kernel of dot_i8.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], modulo
// 2^32, for operands of integers of at most 32 bits. Integers of fewer than 8 bits are bytes in memory, with
// their sign or zeros above.
//
// With x = sum of x_i 2^(8 i) and y = sum of y_j 2^(8 j), of which only the highest bytes are signed, x y is
// the sum of x_i y_j 2^(8 (i + j)), and of the terms with i + j at or above the result's bytes nothing
// remains. A product of bytes is one pass over k for each of the other (i, j), from the largest i + j on;
// whenever i + j becomes less, the sums so far are multiplied by 2^8. All of it is modulo 2^32.
#ifndef ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/strides.h"

namespace assay::gpu {

// Element (b, row, k) is the sum of the three offsets from `address` on: in elements, but for dot_i8, which
// takes an operand's bytes one by one, in bytes.
struct ByteOperand {
  uint64_t address;
  Strides batch, rows, depth;
};

// Byte `lhs` of lhs times byte `rhs` of rhs.
struct BytePass {
  int8_t lhs, rhs;
  int8_t lhs_signed, rhs_signed;
  int32_t shift;  // of the sums before it, in bits: 0 or kByteShift
};
constexpr int kByteShift = 8;
constexpr int kMostBytePasses = 10;  // of 32 bits and 32 bits to 32 bits
struct BytePasses {
  int32_t count;
  BytePass list[kMostBytePasses];
};
constexpr BytePasses BytePassesOf(int lhs_bytes, bool lhs_signed, int rhs_bytes, bool rhs_signed,
                                  int result_bytes) {
  BytePasses passes{};
  for (int level = result_bytes - 1; level >= 0; --level) {
    bool is_first = passes.count != 0;  // of a level below others
    for (int i = 0; i < lhs_bytes && i <= level; ++i) {
      const int j = level - i;
      if (j >= rhs_bytes) continue;
      passes.list[passes.count++] = {static_cast<int8_t>(i), static_cast<int8_t>(j),
                                     static_cast<int8_t>(lhs_signed && i == lhs_bytes - 1 ? 1 : 0),
                                     static_cast<int8_t>(rhs_signed && j == rhs_bytes - 1 ? 1 : 0),
                                     is_first ? kByteShift : 0};
      is_first = false;
    }
  }
  return passes;
}

// dot_i8: ByteDotBlocks blocks of kByteDotThreads threads.
struct ByteDotArguments {
  ByteOperand lhs, rhs;
  BytePasses passes;
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
