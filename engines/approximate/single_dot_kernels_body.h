// The bodies of SingleDotKernels (jit/each_isa.inc); where ASSAY_PAIRS is defined, an element is a pair of
// bf16 and a product the sum of two. No include guard.
#include <immintrin.h>

#include <cstring>

#include "engines/approximate/single_dot_kernels.h"

namespace assay::approximate::ASSAY_ISA {
namespace {

using native::RowsOf;

constexpr int kLanes = ASSAY_BYTES / 4;
constexpr int kRegisters = ASSAY_BYTES == 64 ? 32 : 16;
using F32 = float __attribute__((vector_size(ASSAY_BYTES)));

#ifdef ASSAY_PAIRS
// Of pairs of bf16; subnormal ones, products and sums count as zero.
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm512_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) {
  return (F32)_mm512_dpbf16_ps((__m512)c, (__m512bh)a, (__m512bh)b);
}
#elif ASSAY_BYTES == 64
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm512_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) { return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif ASSAY_BYTES == 32
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm256_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) { return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#else
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) { return a * b + c; }
#endif

// Rows [row, row + kRows) by kVectors vectors of columns, every sum a chain of its own.
template <int kRows, int kVectors>
ASSAY_TARGET void Block(const RowsOf<float>& a, int64_t row, const float* b, int64_t step, float* out,
                        int64_t out_step) {
  F32 s[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) s[r][v] = F32{};
  }
  const float* x = a.a + row * a.row_step;
  for (int64_t k = 0; k < a.length; ++k, b += step, x += a.step) {
    F32 y[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) std::memcpy(&y[v], b + v * kLanes, sizeof(F32));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const F32 xr = Fill(x[r * a.row_step]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) s[r][v] = Fma(xr, y[v], s[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      std::memcpy(out + (row + r) * out_step + v * kLanes, &s[r][v], sizeof(F32));
  }
}

// With a vector of each of the panel's columns, as many sums as there are registers.
constexpr int kTileRows = kRegisters == 32 ? 12 : ASSAY_BYTES == 32 ? 6 : 4;

ASSAY_TARGET void Tile(int64_t n, const float* a, const float* b, bool first, float* c, int64_t c_step) {
  F32 s[kTileRows][kTileVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) {
      s[r][v] = F32{};
      if (!first) std::memcpy(&s[r][v], c + r * c_step + v * kLanes, sizeof(F32));
    }
  }
  for (int64_t k = 0; k < n; ++k, a += kTileRows, b += kTileVectors * kLanes) {
    F32 y[kTileVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) std::memcpy(&y[v], b + v * kLanes, sizeof(F32));
#pragma GCC unroll 12
    for (int r = 0; r < kTileRows; ++r) {
      const F32 x = Fill(a[r]);
#pragma GCC unroll 2
      for (int v = 0; v < kTileVectors; ++v) s[r][v] = Fma(x, y[v], s[r][v]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) std::memcpy(c + r * c_step + v * kLanes, &s[r][v], sizeof(F32));
  }
}

// As many blocks of kRows rows as there are; sums and elements stay in registers.
template <int kRows, int kVectors>
ASSAY_INLINE void Blocks(const RowsOf<float>& a, int64_t& row, const float* b, int64_t step, float* out,
                         int64_t out_step) {
  if constexpr (kRows * kVectors + kVectors + 1 <= kRegisters || kRows == 1) {
    for (; row + kRows <= a.rows; row += kRows) Block<kRows, kVectors>(a, row, b, step, out, out_step);
  }
}

template <int kVectors>
ASSAY_TARGET void Columns(const RowsOf<float>& a, const float* b, int64_t step, float* out,
                          int64_t out_step) {
  int64_t row = 0;
  Blocks<12, kVectors>(a, row, b, step, out, out_step);
  Blocks<8, kVectors>(a, row, b, step, out, out_step);
  Blocks<6, kVectors>(a, row, b, step, out, out_step);
  Blocks<4, kVectors>(a, row, b, step, out, out_step);
  Blocks<2, kVectors>(a, row, b, step, out, out_step);
  Blocks<1, kVectors>(a, row, b, step, out, out_step);
}

ASSAY_TARGET void Multiply(const RowsOf<float>& a, const float* b, int64_t step, int vectors, float* out,
                           int64_t out_step) {
  switch (vectors) {
    case 1:
      return Columns<1>(a, b, step, out, out_step);
    case 2:
      return Columns<2>(a, b, step, out, out_step);
    default:
      return Columns<4>(a, b, step, out, out_step);
  }
}

constexpr SingleDotKernels kKernels = {.lanes = kLanes,
                                       .tile_rows = kTileRows,
                                       .tile_columns = kTileVectors * kLanes,
                                       .tile = Tile,
                                       .multiply = Multiply};

}  // namespace
}  // namespace assay::approximate::ASSAY_ISA
