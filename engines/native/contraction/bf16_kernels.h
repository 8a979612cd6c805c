// Sums of products of bf16, rounded to bf16 once, by instructions that add two products in f32 (AVX512_BF16).
//
// A row is scaled by a power of two to a norm between 2^14 and 2^15. Its elements stay what they were, and
// products of two of them are exact in f32. Neighbours are pairs, 8 pairs a chunk. A chunk is summed from
// zero: each of its instructions adds two products, which rounds twice by at most u = 2^-24 of the sum so
// far; so the chunk's sum is off by at most
//   2 u sum_j (8 - j) (magnitudes of the products of pair j),  j = 0 … 7.
// It is rounded to an integer, and integers add up exactly in 32 bits, as |sum a b| <= |a| |b| <= 2^30. With
// the weights w = 8 - j of elements,
//   |sum a b - result| <= |a|_w |b|_w + chunks / 2 + 1,  |a|_w = sqrt(2 u sum w a^2).
// The 1 is more than what the instructions lose where sums are subnormal: they count as zero.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_KERNELS_H_

#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

inline constexpr int kBf16TileRows = 12, kBf16TileColumns = 32;
inline constexpr int64_t kBf16Chunk = 8;             // pairs
inline constexpr int64_t kLongestBf16Row = 1 << 14;  // elements

// What is known of the scaled rows of a panel.
struct Bf16Scales {
  float weighted[kBf16TileColumns];  // |a|_w, rounded up; 0 for a row of zeros
  float norm[kBf16TileColumns];      // |a|, rounded up
  float exponent[kBf16TileColumns];  // the elements are 2^exponent times the scaled ones
  float smallest[kBf16TileColumns];  // the smallest scaled magnitude but 0; inf where there is none
};

// One row of sums against 16 columns.
struct Bf16Row {
  float weighted, exponent;
  float slack;  // chunks / 2 + 1
};

struct Bf16Kernels {
  // rows[k * width + r]: element k < n of row r, values of bf16; width is kBf16TileRows or kBf16TileColumns.
  // pairs[k * width + r]: elements 2 k (low half) and 2 k + 1 of row r, scaled, zeros from n up to a
  // multiple of 32. False where an element is not finite, or so small beside others that a product could be
  // subnormal.
  bool (*pack)(int64_t n, int width, const float* rows, uint32_t* pairs, Bf16Scales* scales);
  // rows[r * step + k] = pairs[k * kBf16TileColumns + r], k < n, a multiple of 16.
  void (*transpose)(int64_t n, const uint32_t* pairs, uint32_t* rows, int64_t step);
  // c[r * step + j] = (first ? 0 : itself) + the chunks' integers, over n pairs.
  void (*tile)(int64_t n, const uint32_t* a, const uint32_t* b, bool first, int32_t* c, int64_t step);
  // Rounds 16 sums to out, bf16. Bit j of the result: the bound leaves column j open, or it is not normal.
  uint32_t (*round)(const int32_t* sums, const Bf16Row& row, const float* weighted, const float* exponents,
                    uint16_t* out);
  // The sum of products of scaled rows of n pairs in doubles, n a multiple of 16, which rounds at most n / 16
  // + 6 times one after the other: of exact products, or of sums of two products that round to f32, at most
  // twice.
  double (*dot)(int64_t n, const uint32_t* a, const uint32_t* b);
  double (*pair_dot)(int64_t n, const uint32_t* a, const uint32_t* b);
};

// Null where the machine has no such instructions.
const Bf16Kernels* Bf16KernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_BF16_KERNELS_H_
