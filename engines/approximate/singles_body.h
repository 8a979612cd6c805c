// Vectors of floats for the approximate functions (jit/each_isa.inc), and those of f32. No include guard.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "engines/approximate/coefficients.h"
#include "engines/approximate/functions.h"

namespace assay::approximate::ASSAY_ISA {
namespace {

constexpr int kLanes = ASSAY_BYTES / 4;

using F32 = float __attribute__((vector_size(ASSAY_BYTES)));
using I32 = int32_t __attribute__((vector_size(ASSAY_BYTES)));
using U32 = uint32_t __attribute__((vector_size(ASSAY_BYTES)));

constexpr uint32_t kSign32 = uint32_t{1} << 31;
constexpr uint32_t kOne32 = 0x3f800000;

// Least and Most give x where x is NaN. Times2To(k, y): y 2^k rounded once, k an integer from -150 to 128 and
// y in [1/2, 2]. Lookup takes the low four bits of `index`.
#if ASSAY_BYTES == 64
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm512_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) { return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
ASSAY_INLINE F32 Root(F32 a) { return (F32)_mm512_maskz_sqrt_ps(0xffff, (__m512)a); }
ASSAY_INLINE F32 Min(float limit, F32 x) {
  return (F32)_mm512_maskz_min_ps(0xffff, _mm512_set1_ps(limit), (__m512)x);
}
ASSAY_INLINE F32 Max(float limit, F32 x) {
  return (F32)_mm512_maskz_max_ps(0xffff, _mm512_set1_ps(limit), (__m512)x);
}
ASSAY_INLINE F32 Times2To(F32 k, F32 y) { return (F32)_mm512_maskz_scalef_ps(0xffff, (__m512)y, (__m512)k); }
ASSAY_INLINE F32 Lookup(const float* table, U32 index) {
  return (F32)_mm512_maskz_permutexvar_ps(0xffff, (__m512i)index, _mm512_load_ps(table));
}
// y | (x & sign)
ASSAY_INLINE F32 WithSign(F32 x, F32 y) {
  return (F32)_mm512_ternarylogic_epi32((__m512i)y, (__m512i)x, _mm512_set1_epi32(INT32_MIN), 0xf8);
}
ASSAY_INLINE bool AllBetween(float low, F32 x, float high) {
  const __mmask16 above = _mm512_cmp_ps_mask(_mm512_set1_ps(low), (__m512)x, _CMP_LT_OQ);
  return _mm512_mask_cmp_ps_mask(above, (__m512)x, _mm512_set1_ps(high), _CMP_LT_OQ) == 0xffff;
}
ASSAY_INLINE F32 Canonical(F32 y) {
  const __mmask16 nan = _mm512_cmp_ps_mask((__m512)y, (__m512)y, _CMP_UNORD_Q);
  return (F32)_mm512_mask_blend_ps(nan, (__m512)y, _mm512_set1_ps(__builtin_nanf("")));
}
ASSAY_INLINE U32 LoadHalves(const void* p) {
  return (U32)_mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
ASSAY_INLINE void StoreHalves(void* p, U32 v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)v));
}
ASSAY_INLINE F32 LoadF16(const void* p) {
  return (F32)_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
ASSAY_INLINE void StoreF16(void* p, F32 v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_maskz_cvtps_ph(0xffff, (__m512)v, 0));
}
ASSAY_INLINE void Stream(void* p, F32 v) { _mm512_stream_ps(static_cast<float*>(p), (__m512)v); }
#else
ASSAY_INLINE F32 Fill(float x) { return (F32)_mm256_set1_ps(x); }
ASSAY_INLINE F32 Fma(F32 a, F32 b, F32 c) { return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
ASSAY_INLINE F32 Root(F32 a) { return (F32)_mm256_sqrt_ps((__m256)a); }
ASSAY_INLINE F32 Min(float limit, F32 x) { return (F32)_mm256_min_ps(_mm256_set1_ps(limit), (__m256)x); }
ASSAY_INLINE F32 Max(float limit, F32 x) { return (F32)_mm256_max_ps(_mm256_set1_ps(limit), (__m256)x); }
// Two factors 2^k, of which the first product is exact.
ASSAY_INLINE F32 Times2To(F32 k, F32 y) {
  const I32 whole = (I32)_mm256_cvtps_epi32((__m256)k);
  const I32 half = whole >> 1;
  return y * (F32)(((U32)half << 23) + kOne32) * (F32)(((U32)(whole - half) << 23) + kOne32);
}
ASSAY_INLINE F32 Lookup(const float* table, U32 index) {
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)index);
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), (__m256i)index);
  return (F32)_mm256_blendv_ps(low, high, (__m256)(index << 28));
}
ASSAY_INLINE F32 WithSign(F32 x, F32 y) { return (F32)((U32)y | ((U32)x & kSign32)); }
ASSAY_INLINE bool AllBetween(float low, F32 x, float high) {
  return _mm256_movemask_ps((__m256)((Fill(low) < x) & (x < Fill(high)))) == 0xff;
}
ASSAY_INLINE F32 Canonical(F32 y) {
  const __m256 nan = _mm256_cmp_ps((__m256)y, (__m256)y, _CMP_UNORD_Q);
  return (F32)_mm256_blendv_ps((__m256)y, _mm256_set1_ps(__builtin_nanf("")), nan);
}
ASSAY_INLINE U32 LoadHalves(const void* p) {
  return (U32)_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreHalves(void* p, U32 v) {
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)v, (__m256i)v), 0xd8);
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
}
ASSAY_INLINE F32 LoadF16(const void* p) {
  return (F32)_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
ASSAY_INLINE void StoreF16(void* p, F32 v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, 0));
}
ASSAY_INLINE void Stream(void* p, F32 v) { _mm256_stream_ps(static_cast<float*>(p), (__m256)v); }
#endif
ASSAY_INLINE F32 Magnitude(F32 x) { return (F32)((U32)x & ~kSign32); }

// c[0] + c[1] x + ... + c[n - 1] x^(n - 1).
template <int n>
ASSAY_INLINE F32 Series(const float* c, F32 x) {
  if constexpr (n == 1) {
    return Fill(c[0]);
  } else {
    return Fma(Series<n - 1>(c + 1, x), x, Fill(c[0]));
  }
}

// e^x = 2^k (1 + small): x = k log 2 + r, |r| <= log 2 / 2. `shifted` has k in its low bits. k log 2 with the
// first part is exact for |k| <= 150, as that has 21 bits.
struct Exponential {
  F32 shifted, k, small;
};
ASSAY_INLINE Exponential ExponentialOf(F32 x) {
  constexpr float kRounder = 0x1.8p23f;
  const F32 shifted = Fma(x, Fill(kPowersSingle), Fill(kRounder));
  const F32 k = shifted - kRounder;
  const F32 r = Fma(k, Fill(-kLn2RestSingle), Fma(k, Fill(-kLn2Single), x));
  return {shifted, k, Fma(r * r, Series<std::size(kExpSingle)>(kExpSingle, r), r)};
}

// From 88.73 on e^x has overflowed, below -103.98 it rounds to 0.
struct Exp {
  static constexpr Opcode kOpcode = Opcode::kExp;
  static constexpr int kUlps = 1;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F32 Of(F32 x) {
    const Exponential e = ExponentialOf(Max(-104, Min(89, x)));
    return Times2To(e.k, e.small + 1);
  }
};

// E / (1 + E) where x is negative, else 1 / (1 + E); E = e^-|x|.
struct Logistic {
  static constexpr Opcode kOpcode = Opcode::kLogistic;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F32 Of(F32 x) {
    const Exponential e = ExponentialOf(-Min(104, Magnitude(x)));
    const F32 power = Times2To(e.k, e.small + 1);
    return (x < 0 ? power : Fill(1.0f)) / (power + 1);
  }
};

// 2^k small + (2^k - 1), k <= 127 by halves; what is near 0 is itself.
struct Expm1 {
  static constexpr Opcode kOpcode = Opcode::kExpm1;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F32 Of(F32 x) {
    const Exponential e = ExponentialOf(Max(-20, Min(89, x)));
    const F32 half = (F32)(((U32)e.shifted << 23) + (kOne32 - (1 << 23)));
    const F32 value = Fma(half, e.small, half - 0.5f) * 2;
    return Magnitude(x) < 0x1p-30f ? x : value;
  }
};

// log(m) + e log 2 for m = 1 + f in [sqrt 1/2, sqrt 2].
ASSAY_INLINE F32 LogarithmOf(F32 f, F32 e) {
  const F32 square = f * f;
  const F32 rest = Fma(e, Fill(kLn2RestSingle), square * f * Series<std::size(kLogSingle)>(kLogSingle, f));
  return Fma(e, Fill(kLn2Single), f + Fma(square, Fill(-0.5f), rest));
}
// x = 2^e m
struct Scaled {
  I32 e;
  F32 m;
};
ASSAY_INLINE Scaled ScaledOf(F32 x) {
  constexpr uint32_t kRootOfHalf = 0x3f3504f3;
  const I32 e = (I32)((U32)x - kRootOfHalf) >> 23;
  return {e, (F32)((U32)x - ((U32)e << 23))};  // wraps where x is no positive number
}
ASSAY_INLINE F32 ToFloat(I32 x) { return __builtin_convertvector(x, F32); }
// y but for x outside (pole, infinity).
ASSAY_INLINE F32 LogarithmSpecial(F32 x, F32 y, float pole) {
  if (__builtin_expect(AllBetween(pole, x, __builtin_inff()), 1)) return y;
  const F32 infinity = Fill(__builtin_inff());
  const F32 limit = x == pole ? -infinity : x == infinity ? infinity : Fill(__builtin_nanf(""));
  return ((x > pole) & (x < infinity)) ? y : limit;
}

struct Log {
  static constexpr Opcode kOpcode = Opcode::kLog;
  static constexpr int kUlps = 1;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F32 Of(F32 x) {
    const I32 subnormal = x < 0x1p-126f;
    const Scaled s = ScaledOf(subnormal ? x * 0x1p23f : x);
    return LogarithmOf(s.m - 1, ToFloat(s.e + (subnormal & -23)));
  }
  ASSAY_INLINE F32 Special(F32 x, F32 y) { return LogarithmSpecial(x, y, 0); }
};

// log u + (1 + x - u) / u, u = 1 + x rounded, whose error is exact.
struct Log1p {
  static constexpr Opcode kOpcode = Opcode::kLog1p;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F32 Of(F32 x) {
    const F32 u = x + 1;
    const F32 error = x < 1 ? x - (u - 1) : 1 - (u - x);
    const Scaled s = ScaledOf(u);
    const I32 e = s.e < 100 ? s.e : (I32)(s.e - s.e + 100);  // beyond, the error is nothing
    const F32 scale = (F32)(kOne32 - ((U32)e << 23));
    return LogarithmOf(Fma(error, scale, s.m - 1), ToFloat(s.e));
  }
  ASSAY_INLINE F32 Special(F32 x, F32 y) { return LogarithmSpecial(x, y, -1); }
};

struct Rsqrt {
  static constexpr Opcode kOpcode = Opcode::kRsqrt;
  static constexpr int kUlps = 1;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F32 Of(F32 x) { return Fill(1.0f) / Root(x); }
};

// An odd function by pieces: its series about the center of the piece that |x| lies in.
template <class Pieces, int j>
ASSAY_INLINE F32 SeriesFrom(U32 index, F32 t) {
  const F32 c = Lookup(Pieces::kSeries[j], index);
  if constexpr (j + 1 == std::size(Pieces::kSeries)) {
    return c;
  } else {
    return Fma(SeriesFrom<Pieces, j + 1>(index, t), t, c);
  }
}
template <Opcode opcode, class Pieces>
struct ByPieces {
  static constexpr Opcode kOpcode = opcode;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F32 Of(F32 x) {
    const F32 magnitude = Min(Pieces::kLimit, Magnitude(x));
    const U32 index = (U32)(magnitude + Pieces::kOffset) >> 21;
    return SeriesFrom<Pieces, 0>(index, magnitude - Lookup(Pieces::kCenter, index));
  }
};

// The types of elements.
struct OfF32 {
  static constexpr ElementType kType = ElementType::kF32;
  static constexpr int64_t kBytes = 4;
  ASSAY_INLINE F32 Load(const std::byte* p) {
    F32 v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
  ASSAY_INLINE void Store(std::byte* p, F32 v) { std::memcpy(p, &v, sizeof(v)); }
};
struct OfF32Streamed : OfF32 {
  ASSAY_INLINE void Store(std::byte* p, F32 v) { Stream(p, v); }
};
struct OfF16 {
  static constexpr ElementType kType = ElementType::kF16;
  static constexpr int64_t kBytes = 2;
  ASSAY_INLINE F32 Load(const std::byte* p) { return LoadF16(p); }
  ASSAY_INLINE void Store(std::byte* p, F32 v) { StoreF16(p, v); }
};
struct OfBF16 {
  static constexpr ElementType kType = ElementType::kBF16;
  static constexpr int64_t kBytes = 2;
  ASSAY_INLINE F32 Load(const std::byte* p) { return (F32)(LoadHalves(p) << 16); }
  // Half a unit less one, one more where the kept bits are odd; the canonical NaN stays.
  ASSAY_INLINE void Store(std::byte* p, F32 v) {
    const U32 bits = (U32)v;
    StoreHalves(p, (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

template <class Fn, class Type>
ASSAY_INLINE void Block(const std::byte* in, std::byte* out) {
  const F32 x = Type::Load(in);
  F32 y = Fn::Of(x);
  if constexpr (requires { Fn::Special(x, y); }) y = Fn::Special(x, y);
  if constexpr (Fn::kKeepsSign) y = WithSign(x, y);
  Type::Store(out, Canonical(y));
}

template <class Fn, class Type>
ASSAY_TARGET void Apply(int64_t n, const std::byte* const* operands, std::byte* out) {
  constexpr int64_t kStep = kLanes * Type::kBytes;
  const std::byte* in = operands[0];
  for (; n >= kLanes; n -= kLanes, in += kStep, out += kStep) Block<Fn, Type>(in, out);
  if (n == 0) return;
  alignas(64) std::byte last[kStep] = {};
  std::memcpy(last, in, static_cast<size_t>(n * Type::kBytes));
  Block<Fn, Type>(last, last);
  std::memcpy(out, last, static_cast<size_t>(n * Type::kBytes));
}

// Rounded from floats that near, f16 and bf16 are neighbours at most.
template <class Fn, class Type>
constexpr ApproximateFunction RowOf() {
  return {Fn::kOpcode, Type::kType, 1, Apply<Fn, Type>, nullptr};
}
template <class Fn>
constexpr ApproximateFunction SingleOf() {
  return {Fn::kOpcode, ElementType::kF32, Fn::kUlps, Apply<Fn, OfF32>, Apply<Fn, OfF32Streamed>};
}

using Tanh = ByPieces<Opcode::kTanh, TanhSingle>;
using Erf = ByPieces<Opcode::kErf, ErfSingle>;

constexpr ApproximateFunction kSingles[] = {
    SingleOf<Exp>(),      SingleOf<Expm1>(),      SingleOf<Logistic>(),      SingleOf<Tanh>(),
    SingleOf<Erf>(),      SingleOf<Log>(),        SingleOf<Log1p>(),         SingleOf<Rsqrt>(),
    RowOf<Exp, OfF16>(),  RowOf<Expm1, OfF16>(),  RowOf<Logistic, OfF16>(),  RowOf<Tanh, OfF16>(),
    RowOf<Erf, OfF16>(),  RowOf<Log, OfF16>(),    RowOf<Log1p, OfF16>(),     RowOf<Rsqrt, OfF16>(),
    RowOf<Exp, OfBF16>(), RowOf<Expm1, OfBF16>(), RowOf<Logistic, OfBF16>(), RowOf<Tanh, OfBF16>(),
    RowOf<Erf, OfBF16>(), RowOf<Log, OfBF16>(),   RowOf<Log1p, OfBF16>(),    RowOf<Rsqrt, OfBF16>(),
};

}  // namespace
}  // namespace assay::approximate::ASSAY_ISA
