// The bodies of IntegerKernels (jit/each_isa.inc); ASSAY_VNNI is defined where there are instructions that
// add products of pairs. No include guard.
#include <immintrin.h>

#include <cstring>

#include "engines/native/contraction/integer_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

constexpr int kLanes = ASSAY_BYTES / 8;
constexpr int kRows = ASSAY_BYTES == 64 ? 12 : ASSAY_BYTES == 32 ? 6 : 4;  // of a tile

using U32 = uint32_t __attribute__((vector_size(ASSAY_BYTES)));
using U64 = uint64_t __attribute__((vector_size(ASSAY_BYTES)));

// sum + a * b, of pairs of 16-bit integers.
#ifdef ASSAY_VNNI
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return (U32)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#elif ASSAY_BYTES == 64
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return sum + (U32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#elif ASSAY_BYTES == 32
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return sum + (U32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#else
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) { return sum + (U32)_mm_madd_epi16((__m128i)a, (__m128i)b); }
#endif

#ifdef ASSAY_VNNI
// sum + a * b, of quadruples of bytes, unsigned and signed.
ASSAY_INLINE U32 AddQuads(U32 sum, U32 a, U32 b) {
  return (U32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#endif

// V's elements are kGroup elements of 16 or 8 bits, or single ones.
template <class V, class T, int kGroup>
ASSAY_INLINE void TileBody(int64_t n, const T* a, const T* b, T* c, int64_t c_stride) {
  constexpr int kLanes = sizeof(V) / sizeof(T);
  V acc[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = V{};
  for (int64_t k = 0; k < n; ++k, a += kRows, b += 2 * kLanes) {
    V b0, b1;
    std::memcpy(&b0, b, sizeof(V));
    std::memcpy(&b1, b + kLanes, sizeof(V));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V x = V{} + a[r];
      if constexpr (kGroup == 2) {
        acc[r][0] = AddPairs(acc[r][0], x, b0);
        acc[r][1] = AddPairs(acc[r][1], x, b1);
#ifdef ASSAY_VNNI
      } else if constexpr (kGroup == 4) {
        acc[r][0] = AddQuads(acc[r][0], x, b0);
        acc[r][1] = AddQuads(acc[r][1], x, b1);
#endif
      } else {
        acc[r][0] += x * b0;
        acc[r][1] += x * b1;
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) std::memcpy(c + r * c_stride, acc[r], 2 * sizeof(V));
}

#ifdef ASSAY_VNNI
ASSAY_TARGET void Tile8(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) {
  TileBody<U32, uint32_t, 4>(n / 4, static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                             static_cast<uint32_t*>(c), c_stride);
}
ASSAY_TARGET void Sums8(int64_t n, const void* panel, int width, bool is_signed, uint32_t* sums) {
  const auto* rows = static_cast<const uint32_t*>(panel);
  const __m512i ones = _mm512_set1_epi8(1);
  for (int r = 0; r < width; r += 16) {
    const __mmask16 some = width - r < 16 ? (1 << (width - r)) - 1 : 0xffff;
    __m512i sum = _mm512_setzero_si512();
    for (int64_t k = 0; k < n / 4; ++k) {
      const __m512i x = _mm512_maskz_loadu_epi32(some, rows + k * width + r);
      sum = is_signed ? _mm512_dpbusd_epi32(sum, ones, x) : _mm512_dpbusd_epi32(sum, x, ones);
    }
    _mm512_mask_storeu_epi32(sums + r, some, sum);
  }
}
#endif
ASSAY_TARGET void Tile16(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) {
  TileBody<U32, uint32_t, 2>(n / 2, static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                             static_cast<uint32_t*>(c), c_stride);
}
ASSAY_TARGET void Tile32(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) {
  TileBody<U32, uint32_t, 1>(n, static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                             static_cast<uint32_t*>(c), c_stride);
}
ASSAY_TARGET void Tile64(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) {
  TileBody<U64, uint64_t, 1>(n, static_cast<const uint64_t*>(a), static_cast<const uint64_t*>(b),
                             static_cast<uint64_t*>(c), c_stride);
}

constexpr IntegerKernel Kernel(int columns, int element_bytes, int sum_bytes, int group,
                               void (*tile)(int64_t, const void*, const void*, void*, int64_t)) {
  IntegerKernel kernel = {kRows, columns, element_bytes, sum_bytes, group, group};
  kernel.tile = tile;
  return kernel;
}

constexpr IntegerKernel BytesKernel() {
#ifdef ASSAY_VNNI
  IntegerKernel kernel = Kernel(4 * kLanes, 1, 4, 4, Tile8);
  kernel.biased = true;
  kernel.sums = Sums8;
  return kernel;
#else
  return {};
#endif
}

constexpr IntegerKernels kKernels = {
    .from8 = BytesKernel(),
    .from16 = Kernel(4 * kLanes, 2, 4, 2, Tile16),
    .from32 = Kernel(4 * kLanes, 4, 4, 1, Tile32),
    .from64 = Kernel(2 * kLanes, 8, 8, 1, Tile64),
};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
