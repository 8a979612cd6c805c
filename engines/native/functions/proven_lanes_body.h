// Vectors of kLanes floats beside those of doubles, look-ups in tables of 16 doubles, and the walk over
// stored elements, for the proven functions. No include guard.
#include <type_traits>

#include "engines/native/sums/lanes_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

using F32 = float __attribute__((vector_size(4 * kLanes)));
using I32 = int32_t __attribute__((vector_size(4 * kLanes)));
using U32 = uint32_t __attribute__((vector_size(4 * kLanes)));

constexpr uint32_t kSign32 = uint32_t{1} << 31;

// Least and Most give x where x is NaN. Lookup takes the low four bits of the pattern of `index`.
#if ASSAY_BYTES == 64
ASSAY_INLINE F64 Widen(F32 x) { return (F64)_mm512_maskz_cvtps_pd(0xff, (__m256)x); }
ASSAY_INLINE F32 Narrow(F64 x) { return (F32)_mm512_maskz_cvtpd_ps(0xff, (__m512d)x); }
ASSAY_INLINE F64 Least(F64 limit, F64 x) {
  return (F64)_mm512_maskz_min_pd(0xff, (__m512d)limit, (__m512d)x);
}
ASSAY_INLINE F64 Most(F64 limit, F64 x) { return (F64)_mm512_maskz_max_pd(0xff, (__m512d)limit, (__m512d)x); }
ASSAY_INLINE F64 Lookup(const void* table, U64 index) {
  const auto* const d = static_cast<const double*>(table);
  return (F64)_mm512_permutex2var_pd(_mm512_load_pd(d), (__m512i)index, _mm512_load_pd(d + 8));
}
ASSAY_INLINE F64 Gather(const double* table, U64 index) {
  return (F64)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xff, (__m512i)index, table, 8);
}
ASSAY_INLINE bool AllBetween(F64 low, F64 x, F64 high) {
  const __mmask8 above = _mm512_cmp_pd_mask((__m512d)low, (__m512d)x, _CMP_LT_OQ);
  return _mm512_mask_cmp_pd_mask(above, (__m512d)x, (__m512d)high, _CMP_LT_OQ) == 0xff;
}
ASSAY_INLINE bool AllEqual(F64 a, F64 b) {
  return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ) == 0xff;
}
ASSAY_INLINE F32 FillSingle(float x) { return (F32)_mm256_set1_ps(x); }
// y | (x & sign)
ASSAY_INLINE F32 WithSign(F32 x, F32 y) {
  return (F32)_mm256_ternarylogic_epi32((__m256i)y, (__m256i)x, _mm256_set1_epi32(INT32_MIN), 0xf8);
}
ASSAY_INLINE F32 Root(F32 x) { return (F32)_mm256_sqrt_ps((__m256)x); }
ASSAY_INLINE bool AllBetween(F32 low, F32 x, F32 high) {
  const __mmask8 above = _mm256_cmp_ps_mask((__m256)low, (__m256)x, _CMP_LT_OQ);
  return _mm256_mask_cmp_ps_mask(above, (__m256)x, (__m256)high, _CMP_LT_OQ) == 0xff;
}
ASSAY_INLINE bool Any(I64 mask) { return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0; }
ASSAY_INLINE bool AnyWithout(U64 x, uint64_t bits) {
  return _mm512_testn_epi64_mask((__m512i)x, _mm512_set1_epi64(static_cast<int64_t>(bits))) != 0;
}
ASSAY_INLINE U32 LoadHalves(const void* p) {
  return (U32)_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreHalves(void* p, U32 v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtepi32_epi16((__m256i)v));
}
ASSAY_INLINE F32 LoadF16(const void* p) {
  return (F32)_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreF16(void* p, F32 v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, 0));
}
ASSAY_INLINE void StreamSingles(void* p, F32 v) { _mm256_stream_ps(static_cast<float*>(p), (__m256)v); }
#else
ASSAY_INLINE F64 Widen(F32 x) { return (F64)_mm256_cvtps_pd((__m128)x); }
ASSAY_INLINE F32 Narrow(F64 x) { return (F32)_mm256_cvtpd_ps((__m256d)x); }
ASSAY_INLINE F64 Least(F64 limit, F64 x) { return (F64)_mm256_min_pd((__m256d)limit, (__m256d)x); }
ASSAY_INLINE F64 Most(F64 limit, F64 x) { return (F64)_mm256_max_pd((__m256d)limit, (__m256d)x); }
// Four loads take less time than the gathering instruction.
ASSAY_INLINE F64 Gather(const double* table, U64 index) {
  return F64{table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
}
ASSAY_INLINE F64 Lookup(const void* table, U64 index) {
  return Gather(static_cast<const double*>(table), index & 15);
}
ASSAY_INLINE bool AllBetween(F64 low, F64 x, F64 high) {
  return _mm256_movemask_pd((__m256d)((low < x) & (x < high))) == 0xf;
}
ASSAY_INLINE bool AllEqual(F64 a, F64 b) { return _mm256_movemask_pd((__m256d)(a == b)) == 0xf; }
ASSAY_INLINE F32 FillSingle(float x) { return (F32)_mm_set1_ps(x); }
ASSAY_INLINE F32 WithSign(F32 x, F32 y) { return (F32)((U32)y | ((U32)x & kSign32)); }
ASSAY_INLINE F32 Root(F32 x) { return (F32)_mm_sqrt_ps((__m128)x); }
ASSAY_INLINE bool AllBetween(F32 low, F32 x, F32 high) {
  return _mm_movemask_ps((__m128)((low < x) & (x < high))) == 0xf;
}
ASSAY_INLINE bool Any(I64 mask) { return _mm256_movemask_epi8((__m256i)mask) != 0; }
ASSAY_INLINE bool AnyWithout(U64 x, uint64_t bits) { return Any((x & bits) == 0); }
ASSAY_INLINE U32 LoadHalves(const void* p) {
  return (U32)_mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreHalves(void* p, U32 v) {
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi32((__m128i)v, (__m128i)v));
}
ASSAY_INLINE F32 LoadF16(const void* p) {
  return (F32)_mm_cvtph_ps(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreF16(void* p, F32 v) {
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_cvtps_ph((__m128)v, 0));
}
ASSAY_INLINE void StreamSingles(void* p, F32 v) { _mm_stream_ps(static_cast<float*>(p), (__m128)v); }
#endif

// To 24 bits, the last one set where bits were lost: any narrower format rounds that as it would x.
ASSAY_INLINE F32 NarrowToOdd(F64 x) {
  constexpr uint64_t kLost = (uint64_t{1} << 29) - 1;
  const U64 bits = (U64)x;
  return Narrow((F64)((bits | ((bits & kLost) + kLost)) & ~kLost));
}

// Some element lies within 64 units of a midpoint of two normal floats, in its last place of 53 bits.
ASSAY_INLINE bool IsNearMidpoint(F64 x) {
  constexpr uint64_t kUnits = 64, kMidpoint = uint64_t{1} << 28;
  constexpr uint64_t kRest = 2 * kMidpoint - 2 * kUnits;
  return AnyWithout((U64)x + (kMidpoint + kUnits), kRest);
}

// c[0] + c[1] x + ... + c[n - 1] x^(n - 1), in pairs.
template <int n>
ASSAY_INLINE F64 Series(const double* c, F64 x, F64 square) {
  if constexpr (n == 1) {
    return Fill(c[0]);
  } else if constexpr (n == 2) {
    return Fma(Fill(c[1]), x, Fill(c[0]));
  } else {
    return Fma(Series<n - 2>(c + 2, x, square), square, Series<2>(c, x, square));
  }
}

// What the function with a rounding test gives.
template <typename T, class Vector>
ASSAY_INLINE Vector Asked(Opcode opcode, Vector x) {
  T lanes[kLanes];
  std::memcpy(lanes, &x, sizeof(lanes));
  AskTested(opcode, kLanes, lanes);
  std::memcpy(&x, lanes, sizeof(lanes));
  return x;
}

// The types of elements.
struct OfF32 {
  static constexpr int64_t kBytes = 4;
  ASSAY_INLINE F32 Load(const std::byte* p) {
    F32 v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
  ASSAY_INLINE F32 Round(F64 x) { return Narrow(x); }
  ASSAY_INLINE void Store(std::byte* p, F32 v) { std::memcpy(p, &v, sizeof(v)); }
};
struct OfF32Streamed : OfF32 {
  ASSAY_INLINE void Store(std::byte* p, F32 v) { StreamSingles(p, v); }
};
struct OfF16 {
  static constexpr int64_t kBytes = 2;
  ASSAY_INLINE F32 Load(const std::byte* p) { return LoadF16(p); }
  ASSAY_INLINE F32 Round(F64 x) { return NarrowToOdd(x); }
  ASSAY_INLINE void Store(std::byte* p, F32 v) { StoreF16(p, v); }
};
struct OfBF16 {
  static constexpr int64_t kBytes = 2;
  ASSAY_INLINE F32 Load(const std::byte* p) { return (F32)(LoadHalves(p) << 16); }
  ASSAY_INLINE F32 Round(F64 x) { return NarrowToOdd(x); }
  // Half a unit less one, one more where the kept bits are odd; the canonical NaN stays.
  ASSAY_INLINE void Store(std::byte* p, F32 v) {
    const U32 bits = (U32)v;
    StoreHalves(p, (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// NaN results are the canonical one. Fn::kKeepsSign: f(x) has the sign of x, also where both are 0.
// Fn::kAsks: some floats come too near a midpoint, so the function with a rounding test
// is asked about all that do.
template <class Fn, class Type>
struct Rounded {
  static constexpr int64_t kBytes = Type::kBytes;
  ASSAY_INLINE void Run(const std::byte* in, std::byte* out) {
    const F32 x = Type::Load(in);
    const F64 value = Fn::Of(Widen(x));
    F32 y = Type::Round(value);
    if constexpr (requires { Fn::Special(x, y); }) y = Fn::Special(x, y);
    if constexpr (Fn::kKeepsSign) y = WithSign(x, y);
    y = y == y ? y : FillSingle(__builtin_nanf(""));
    if constexpr (std::is_base_of_v<OfF32, Type> && requires { Fn::kAsks; }) {
      if (__builtin_expect(IsNearMidpoint(value), 0)) y = Asked<float>(Fn::kAsks, x);
    }
    Type::Store(out, y);
  }
};

// Runs over blocks of kLanes elements.
template <class Block>
ASSAY_TARGET void Apply(int64_t n, const std::byte* const* operands, std::byte* out) {
  constexpr int64_t kStep = kLanes * Block::kBytes;
  const std::byte* in = operands[0];
  for (; n >= kLanes; n -= kLanes, in += kStep, out += kStep) Block::Run(in, out);
  if (n == 0) return;
  alignas(64) std::byte last[kStep] = {};
  std::memcpy(last, in, static_cast<size_t>(n * Block::kBytes));
  Block::Run(last, last);
  std::memcpy(out, last, static_cast<size_t>(n * Block::kBytes));
}

template <class Fn>
constexpr ProvenRow RowOf(Opcode opcode, ElementwiseFn f64 = nullptr) {
  return {opcode, Apply<Rounded<Fn, OfF32>>,        Apply<Rounded<Fn, OfF16>>, Apply<Rounded<Fn, OfBF16>>,
          f64,    Apply<Rounded<Fn, OfF32Streamed>>};
}

}  // namespace
}  // namespace assay::native::ASSAY_ISA
