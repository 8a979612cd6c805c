// Rows by columns as sums of f32, once an instruction set.
#ifndef ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_KERNELS_H_
#define ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_KERNELS_H_

#include <cstdint>

#include "engines/native/contraction/small_dot_kernels.h"
#include "jit/isa.h"

namespace assay::approximate {

inline constexpr int kMaxSingleColumns = 64;

// Rows of a left panel of tiles and vectors of a right one.
inline constexpr int kMaxTileRows = 12, kTileVectors = 2;

struct SingleDotKernels {
  int lanes;
  int tile_rows, tile_columns;
  // c[r * c_step + j] = (first ? 0 : itself) + sum of a[k * tile_rows + r] * b[k * tile_columns + j],
  // k < n, in order of k.
  void (*tile)(int64_t n, const float* a, const float* b, bool first, float* c, int64_t c_step);
  // out[r * out_step + j] = sum of a(r, k) * b[k * step + j] over k in order of k, j < vectors * lanes; 1,
  // 2 or 4 vectors.
  void (*multiply)(const native::RowsOf<float>& a, const float* b, int64_t step, int vectors, float* out,
                   int64_t out_step);
};

const SingleDotKernels& SingleDotKernelsOf(Isa isa);
// The same where elements are pairs of bf16, whose two products are added one after the other; null where the
// machine has no instructions for them (AVX512_BF16).
const SingleDotKernels* PairDotKernelsOf(Isa isa);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_KERNELS_H_
