// Arguments of the kernels of dot_i8.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], modulo
// 2^32 (dot_i8) or 2^64 (dot_i8_wide), for operands of integers of at most 64 bits. Integers of fewer than 8
// bits are bytes in memory, with their sign or zeros above.
//
// With x = sum of x_i 2^(8 i) and y = sum of y_j 2^(8 j), of which only the highest bytes are signed, x y is
// the sum of x_i y_j 2^(8 (i + j)), and of the terms with i + j at or above the result's bytes nothing
// remains. A product of bytes is one pass over k for each of the other (i, j), from the largest i + j on;
// whenever i + j becomes less, the sums so far are multiplied by 2^8. All of it is modulo 2^32.
//
// Of results of 64 bits that holds for i + j >= 4, whose sums are multiplied by 2^32 then. All others are to
// be exact: they are added to the result, as integers of 64 bits, after at most kExactTerms products.
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
  // Of results of 64 bits: after this pass the sums are added to the result, times 2^place, and start from
  // zero again. Below kExactPlaces that is so after every kExactTerms of k, too. -1: the sums go on.
  int32_t place;
};
constexpr int kByteShift = 8, kExactPlaces = 32;
constexpr int kExactTerms = 32768;   // 255 * 255 * 32768 < 2^31
constexpr int kMostBytePasses = 36;  // of 64 bits and 64 bits to 64 bits; 10 of 32 bits
struct BytePasses {
  int32_t count;
  BytePass list[kMostBytePasses];
};
// Of sums of k products; of results of at most 32 bits that makes no difference.
constexpr BytePasses BytePassesOf(int lhs_bytes, bool lhs_signed, int rhs_bytes, bool rhs_signed,
                                  int result_bytes, int64_t k) {
  BytePasses passes{};
  const bool is_wide = result_bytes > 4;
  for (int level = result_bytes - 1; level >= 0; --level) {
    const bool is_exact = is_wide && 8 * level < kExactPlaces;
    const int begin = passes.count;
    bool is_first = begin != 0 && !is_exact;  // of a level below others
    for (int i = 0; i < lhs_bytes && i <= level; ++i) {
      const int j = level - i;
      if (j >= rhs_bytes) continue;
      passes.list[passes.count++] = {static_cast<int8_t>(i),
                                     static_cast<int8_t>(j),
                                     static_cast<int8_t>(lhs_signed && i == lhs_bytes - 1 ? 1 : 0),
                                     static_cast<int8_t>(rhs_signed && j == rhs_bytes - 1 ? 1 : 0),
                                     is_first ? kByteShift : 0,
                                     -1};
      is_first = false;
    }
    if (!is_wide || passes.count == begin || 8 * level > kExactPlaces) continue;
    // The products of a level are added together where there are few enough of them.
    const int together = is_exact && (passes.count - begin) * k > kExactTerms ? begin : passes.count - 1;
    for (int i = together; i < passes.count; ++i) passes.list[i].place = 8 * level;
  }
  return passes;
}

// dot_i8, and dot_i8_wide of results of 64 bits: ByteDotBlocks blocks of kByteDotThreads threads.
struct ByteDotArguments {
  ByteOperand lhs, rhs;
  BytePasses passes;
  uint64_t result;
  // Of the result, in elements: for the dimensions of the batch, of m and of n.
  int64_t batch_strides[kMaxDimensions], row_strides[kMaxDimensions], column_strides[kMaxDimensions];
  int32_t result_bytes;  // 1, 2, 4 or 8: the low bytes of the sum
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
constexpr uint32_t kWideDotSharedBytes = kByteDotSharedBytes + (kByteDotRows + kByteDotColumns) * 8;
constexpr int64_t ByteDotBlocks(const ByteDotArguments& a) {
  return SizeOf(a.lhs.batch) * ((SizeOf(a.lhs.rows) + kByteDotRows - 1) / kByteDotRows) *
         ((SizeOf(a.rhs.rows) + kByteDotColumns - 1) / kByteDotColumns);
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_I8_ARGUMENTS_H_
