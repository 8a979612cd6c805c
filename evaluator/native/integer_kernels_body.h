// The bodies of IntegerKernels: the including file defines ASSAY_TARGET, ASSAY_LANES (64-bit integers in a
// vector), ASSAY_ROWS (rows of a tile), ASSAY_INTEGERS (the table's name), and ASSAY_VNNI where there are instructions
// that add products of pairs. No include guard.
#include <immintrin.h>

#include <cstring>

#include "evaluator/native/integer_kernels.h"

namespace assay::native {
namespace {

constexpr int kRows = ASSAY_ROWS;

using U32 = uint32_t __attribute__((vector_size(8 * ASSAY_LANES)));
using U64 = uint64_t __attribute__((vector_size(8 * ASSAY_LANES)));

#define ASSAY_INLINE ASSAY_TARGET static inline __attribute__((always_inline))

// sum + a * b, of pairs of 16-bit integers.
#ifdef ASSAY_VNNI
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return (U32)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#elif ASSAY_LANES == 8
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return sum + (U32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#elif ASSAY_LANES == 4
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) {
  return sum + (U32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#else
ASSAY_INLINE U32 AddPairs(U32 sum, U32 a, U32 b) { return sum + (U32)_mm_madd_epi16((__m128i)a, (__m128i)b); }
#endif

// V's elements are single elements, or pairs of 16-bit ones.
template <class V, class T, bool kPairs>
ASSAY_INLINE void TileBody(int64_t n, const T* a, const T* b, T* c) {
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
      if constexpr (kPairs) {
        acc[r][0] = AddPairs(acc[r][0], x, b0);
        acc[r][1] = AddPairs(acc[r][1], x, b1);
      } else {
        acc[r][0] += x * b0;
        acc[r][1] += x * b1;
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) std::memcpy(c + r * 2 * kLanes, acc[r], 2 * sizeof(V));
}

ASSAY_TARGET void Tile16(int64_t n, const void* a, const void* b, void* c) {
  TileBody<U32, uint32_t, true>(n / 2, static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                                static_cast<uint32_t*>(c));
}
ASSAY_TARGET void Tile32(int64_t n, const void* a, const void* b, void* c) {
  TileBody<U32, uint32_t, false>(n, static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b),
                                 static_cast<uint32_t*>(c));
}
ASSAY_TARGET void Tile64(int64_t n, const void* a, const void* b, void* c) {
  TileBody<U64, uint64_t, false>(n, static_cast<const uint64_t*>(a), static_cast<const uint64_t*>(b),
                                 static_cast<uint64_t*>(c));
}

}  // namespace

const IntegerKernels ASSAY_INTEGERS = {
    .from16 = {kRows, 4 * ASSAY_LANES, 2, 4, true, Tile16},
    .from32 = {kRows, 4 * ASSAY_LANES, 4, 4, false, Tile32},
    .from64 = {kRows, 2 * ASSAY_LANES, 8, 8, false, Tile64},
};

}  // namespace assay::native
