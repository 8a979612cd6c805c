// Vectors of doubles from and to narrower formats (lanes_body.h). No include guard.
#include "engines/native/sums/lanes_body.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

using F32 = float __attribute__((vector_size(4 * kLanes)));
using I32 = int32_t __attribute__((vector_size(4 * kLanes)));
using U16 = uint16_t __attribute__((vector_size(2 * kLanes)));
using U32 = uint32_t __attribute__((vector_size(4 * kLanes)));

// Vectors of f32 as doubles and back; g++ makes several instructions of __builtin_convertvector.
#if ASSAY_BYTES == 64
ASSAY_INLINE F64 Widen(F32 v) { return (F64)_mm512_maskz_cvtps_pd(0xff, (__m256)v); }
ASSAY_INLINE F32 Narrow(F64 v) { return (F32)_mm512_maskz_cvtpd_ps(0xff, (__m512d)v); }
#elif ASSAY_BYTES == 32
ASSAY_INLINE F64 Widen(F32 v) { return (F64)_mm256_cvtps_pd((__m128)v); }
ASSAY_INLINE F32 Narrow(F64 v) { return (F32)_mm256_cvtpd_ps((__m256d)v); }
#else
ASSAY_INLINE F64 Widen(F32 v) { return __builtin_convertvector(v, F64); }
ASSAY_INLINE F32 Narrow(F64 v) { return __builtin_convertvector(v, F32); }
#endif
ASSAY_INLINE F64 Widen(const float* p) {
  F32 v;
  std::memcpy(&v, p, sizeof(v));
  return Widen(v);
}
ASSAY_INLINE F64 Widen(const uint16_t* p) {
#if ASSAY_BYTES == 64
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return Widen((F32)_mm256_slli_epi32(wide, 16));
#elif ASSAY_BYTES == 32
  const __m128i wide = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  return Widen((F32)_mm_slli_epi32(wide, 16));
#else
  U16 v;
  std::memcpy(&v, p, sizeof(v));
  return Widen((F32)(__builtin_convertvector(v, U32) << 16));
#endif
}
ASSAY_INLINE F64 Widen(const double* p) { return Load(p); }

// Bit j: the sign of lane j.
#if ASSAY_BYTES == 64
ASSAY_INLINE uint32_t Signs(I32 v) { return static_cast<uint32_t>(_mm256_movemask_ps((__m256)v)); }
ASSAY_INLINE uint32_t Signs(I64 v) { return _mm512_movepi64_mask((__m512i)v); }
#elif ASSAY_BYTES == 32
ASSAY_INLINE uint32_t Signs(I32 v) { return static_cast<uint32_t>(_mm_movemask_ps((__m128)v)); }
ASSAY_INLINE uint32_t Signs(I64 v) { return static_cast<uint32_t>(_mm256_movemask_pd((__m256d)v)); }
#else
ASSAY_INLINE uint32_t Signs(I32 v) { return (v[0] < 0 ? 1u : 0u) | (v[1] < 0 ? 2u : 0u); }
ASSAY_INLINE uint32_t Signs(I64 v) { return static_cast<uint32_t>(_mm_movemask_pd((__m128d)v)); }
#endif

// The ends of [s - e, s + e] rounded to f32, the lower one to `out`. Bit j: in lane j they differ or are NaN.
ASSAY_INLINE uint32_t NarrowEnds(F64 s, F64 e, float* out) {
  const F32 low = Narrow(s - e), high = Narrow(s + e);
  std::memcpy(out, &low, sizeof(low));
  return Signs(~(((I32)low == (I32)high) & (I32)(low == low)));
}

// Appends at + j for each bit j to `listed`, of which there are `count`; returns how many are there then.
ASSAY_INLINE int64_t ListLanes(uint32_t bits, int64_t at, int64_t* listed, int64_t count) {
  for (; __builtin_expect(bits != 0, 0); bits &= bits - 1) listed[count++] = at + __builtin_ctz(bits);
  return count;
}

ASSAY_INLINE U64 RoundBits(F64 x, const NarrowRounding& rounding) {
  const U64 u = (U64)x;
  return (u + rounding.half_less_one + ((u >> rounding.shift) & rounding.lsb)) & rounding.keep;
}

// Both ends of the interval rounded: -1 where they differ or are not normal.
ASSAY_INLINE I64 RoundEnds(F64 s, F64 bound, const NarrowRounding& rounding, double* out) {
  const U64 low = RoundBits(s - bound, rounding), high = RoundBits(s + bound, rounding);
  const F64 magnitude = Magnitude((F64)low);
  Store(out, (F64)low);
  return ~((low == high) & (magnitude >= rounding.smallest) & (magnitude <= rounding.largest));
}

}  // namespace
}  // namespace assay::native::ASSAY_ISA
