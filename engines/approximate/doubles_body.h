// The approximate functions of f64, in vectors of kLanes / 2 doubles, and with singles_body.h the table of
// all. No include guard.
#include <algorithm>
#include <array>

#include "engines/approximate/singles_body.h"

namespace assay::approximate::ASSAY_ISA {
namespace {

constexpr int kDoubles = kLanes / 2;
using F64 = double __attribute__((vector_size(ASSAY_BYTES)));
using I64 = int64_t __attribute__((vector_size(ASSAY_BYTES)));
using U64 = uint64_t __attribute__((vector_size(ASSAY_BYTES)));

constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint64_t kOne64 = uint64_t{1023} << 52;
constexpr double kRounder64 = 0x1.8p52;

// As for floats.
#if ASSAY_BYTES == 64
ASSAY_INLINE F64 Fill(double x) { return (F64)_mm512_set1_pd(x); }
ASSAY_INLINE F64 Fma(F64 a, F64 b, F64 c) { return (F64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
ASSAY_INLINE F64 Min(double limit, F64 x) {
  return (F64)_mm512_maskz_min_pd(0xff, _mm512_set1_pd(limit), (__m512d)x);
}
ASSAY_INLINE F64 Max(double limit, F64 x) {
  return (F64)_mm512_maskz_max_pd(0xff, _mm512_set1_pd(limit), (__m512d)x);
}
ASSAY_INLINE F64 Times2To(F64 k, F64 y) { return (F64)_mm512_maskz_scalef_pd(0xff, (__m512d)y, (__m512d)k); }
ASSAY_INLINE F64 WithSign(F64 x, F64 y) {
  return (F64)_mm512_ternarylogic_epi64((__m512i)y, (__m512i)x, _mm512_set1_epi64(INT64_MIN), 0xf8);
}
ASSAY_INLINE bool AllBetween(double low, F64 x, double high) {
  const __mmask8 above = _mm512_cmp_pd_mask(_mm512_set1_pd(low), (__m512d)x, _CMP_LT_OQ);
  return _mm512_mask_cmp_pd_mask(above, (__m512d)x, _mm512_set1_pd(high), _CMP_LT_OQ) == 0xff;
}
ASSAY_INLINE F64 Canonical(F64 y) {
  const __mmask8 nan = _mm512_cmp_pd_mask((__m512d)y, (__m512d)y, _CMP_UNORD_Q);
  return (F64)_mm512_mask_blend_pd(nan, (__m512d)y, _mm512_set1_pd(__builtin_nan("")));
}
ASSAY_INLINE void Stream(void* p, F64 v) { _mm512_stream_pd(static_cast<double*>(p), (__m512d)v); }
#else
ASSAY_INLINE F64 Fill(double x) { return (F64)_mm256_set1_pd(x); }
ASSAY_INLINE F64 Fma(F64 a, F64 b, F64 c) { return (F64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
ASSAY_INLINE F64 Min(double limit, F64 x) { return (F64)_mm256_min_pd(_mm256_set1_pd(limit), (__m256d)x); }
ASSAY_INLINE F64 Max(double limit, F64 x) { return (F64)_mm256_max_pd(_mm256_set1_pd(limit), (__m256d)x); }
ASSAY_INLINE F64 Times2To(F64 k, F64 y) {
  const F64 half = Fma(k, Fill(0.5), Fill(kRounder64));
  const F64 rest = (k - (half - kRounder64)) + kRounder64;
  return y * (F64)(((U64)half << 52) + kOne64) * (F64)(((U64)rest << 52) + kOne64);
}
ASSAY_INLINE F64 WithSign(F64 x, F64 y) { return (F64)((U64)y | ((U64)x & kSign64)); }
ASSAY_INLINE bool AllBetween(double low, F64 x, double high) {
  return _mm256_movemask_pd((__m256d)((Fill(low) < x) & (x < Fill(high)))) == 0xf;
}
ASSAY_INLINE F64 Canonical(F64 y) {
  const __m256d nan = _mm256_cmp_pd((__m256d)y, (__m256d)y, _CMP_UNORD_Q);
  return (F64)_mm256_blendv_pd((__m256d)y, _mm256_set1_pd(__builtin_nan("")), nan);
}
ASSAY_INLINE void Stream(void* p, F64 v) { _mm256_stream_pd(static_cast<double*>(p), (__m256d)v); }
#endif
ASSAY_INLINE F64 Magnitude(F64 x) { return (F64)((U64)x & ~kSign64); }

// In pairs: chains of products would be long.
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

// e^x = 2^k (1 + small), as for floats; taking k log 2 off with the first part is exact.
struct Exponential64 {
  F64 shifted, k, small;
};
ASSAY_INLINE Exponential64 ExponentialOf(F64 x) {
  const F64 shifted = Fma(x, Fill(kPowersDouble), Fill(kRounder64));
  const F64 k = shifted - kRounder64;
  const F64 r = Fma(k, Fill(-kLn2RestDouble), Fma(k, Fill(-kLn2Double), x));
  const F64 square = r * r;
  return {shifted, k, Fma(square, Series<std::size(kExpDouble)>(kExpDouble, r, square), r)};
}

// From 709.79 on e^x has overflowed, below -745.14 it rounds to 0.
struct Exp64 {
  static constexpr Opcode kOpcode = Opcode::kExp;
  static constexpr int kUlps = 1;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential64 e = ExponentialOf(Max(-746, Min(710, x)));
    return Times2To(e.k, e.small + 1);
  }
};

struct Logistic64 {
  static constexpr Opcode kOpcode = Opcode::kLogistic;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential64 e = ExponentialOf(-Min(746, Magnitude(x)));
    const F64 power = Times2To(e.k, e.small + 1);
    return (x < 0 ? power : Fill(1.0)) / (power + 1);
  }
};

struct Expm164 {
  static constexpr Opcode kOpcode = Opcode::kExpm1;
  static constexpr int kUlps = 2;
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential64 e = ExponentialOf(Max(-40, Min(710, x)));
    const F64 half = (F64)(((U64)e.shifted << 52) + (kOne64 - (uint64_t{1} << 52)));
    const F64 value = Fma(half, e.small, half - 0.5) * 2;
    return Magnitude(x) < 0x1p-60 ? x : value;
  }
};

// E / (E + 2), E = e^2|x| - 1; from 19.07 on it rounds to 1.
struct Tanh64 {
  static constexpr Opcode kOpcode = Opcode::kTanh;
  static constexpr int kUlps = 3;
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F64 Of(F64 x) {
    const F64 magnitude = Min(20, Magnitude(x));
    const Exponential64 e = ExponentialOf(magnitude + magnitude);
    const F64 scale = (F64)(((U64)e.shifted << 52) + kOne64);
    const F64 power = Fma(scale, e.small, scale - 1);
    return power / (power + 2);
  }
};

// x = 2^e (1 + f), s = f / (2 + f), z = s^2: e log 2 + f - (f^2 / 2 - s (f^2 / 2 + z q(z))).
struct Log64 {
  static constexpr Opcode kOpcode = Opcode::kLog;
  static constexpr int kUlps = 1;
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F64 Of(F64 x) {
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
    const I64 subnormal = x < 0x1p-1022;
    const U64 bits = (U64)(subnormal ? x * 0x1p52 : x) + (kOne64 - kRootOfHalf);
    const F64 biased = (F64)((bits >> 52) | BitsOf52()) - (0x1p52 + 1023);
    const F64 e = subnormal ? biased - 52 : biased;
    const F64 f = (F64)((bits & ((uint64_t{1} << 52) - 1)) + kRootOfHalf) - 1;
    const F64 s = f / (f + 2), z = s * s, half = f * f * 0.5;
    const F64 rest = z * Series<std::size(kLogDouble)>(kLogDouble, z, z * z);
    const F64 less = half - Fma(s, half + rest, e * Fill(kLn2RestDouble));
    return Fma(e, Fill(kLn2Double), f - less);
  }
  ASSAY_INLINE F64 Special(F64 x, F64 y) {
    if (__builtin_expect(AllBetween(0.0, x, __builtin_inf()), 1)) return y;
    const F64 infinity = Fill(__builtin_inf());
    const F64 limit = x == 0 ? -infinity : x == infinity ? infinity : Fill(__builtin_nan(""));
    return ((x > 0) & (x < infinity)) ? y : limit;
  }

 private:
  static constexpr uint64_t BitsOf52() { return uint64_t{1023 + 52} << 52; }
};

template <class Fn, bool streamed>
ASSAY_INLINE void DoubleBlock(const std::byte* in, std::byte* out) {
  F64 x;
  std::memcpy(&x, in, sizeof(x));
  F64 y = Fn::Of(x);
  if constexpr (requires { Fn::Special(x, y); }) y = Fn::Special(x, y);
  if constexpr (Fn::kKeepsSign) y = WithSign(x, y);
  y = Canonical(y);
  if constexpr (streamed) {
    Stream(out, y);
  } else {
    std::memcpy(out, &y, sizeof(y));
  }
}

template <class Fn, bool streamed>
ASSAY_TARGET void ApplyDoubles(int64_t n, const std::byte* const* operands, std::byte* out) {
  const std::byte* in = operands[0];
  for (; n >= kDoubles; n -= kDoubles, in += sizeof(F64), out += sizeof(F64))
    DoubleBlock<Fn, streamed>(in, out);
  if (n == 0) return;
  alignas(64) std::byte last[sizeof(F64)] = {};
  std::memcpy(last, in, static_cast<size_t>(n) * 8);
  DoubleBlock<Fn, false>(last, last);
  std::memcpy(out, last, static_cast<size_t>(n) * 8);
}

template <class Fn>
constexpr ApproximateFunction DoubleOf() {
  return {Fn::kOpcode, ElementType::kF64, Fn::kUlps, ApplyDoubles<Fn, false>, ApplyDoubles<Fn, true>};
}

constexpr auto kRows = [] {
  constexpr ApproximateFunction kDoubleRows[] = {
      DoubleOf<Exp64>(), DoubleOf<Expm164>(), DoubleOf<Logistic64>(), DoubleOf<Tanh64>(), DoubleOf<Log64>()};
  std::array<ApproximateFunction, std::size(kSingles) + std::size(kDoubleRows)> rows{};
  std::copy(std::begin(kSingles), std::end(kSingles), rows.begin());
  std::copy(std::begin(kDoubleRows), std::end(kDoubleRows), rows.begin() + std::size(kSingles));
  return rows;
}();

}  // namespace
}  // namespace assay::approximate::ASSAY_ISA
