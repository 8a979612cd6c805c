// Odd functions of f32 by pieces, 16 floats at a time, for AVX-512 alone. Behind proven_body.h;
// no include guard.
//
// f(c + t) = a0 + a1 t + a2 t^2 + a3 t^3 + t^4 h(t), c and all coefficients looked up by the piece that |x|
// lies in. h is so small a part that floats do for it, 16 in a vector, and only a0 to a3 are doubles. The sum
// was measured to be right to 2^-35, which decides all but one float in a thousand; a vector with one that it
// doesn't takes the formula of proven_body.h. Every result was compared (proven.h).
#include <array>

namespace assay::native::ASSAY_ISA::proven {
namespace {

using Singles = float __attribute__((vector_size(64)));
using Words = uint32_t __attribute__((vector_size(64)));

constexpr int64_t kSingles = 16;

ASSAY_INLINE Singles Least(float limit, Singles x) {
  return (Singles)_mm512_maskz_min_ps(0xffff, _mm512_set1_ps(limit), (__m512)x);
}
ASSAY_INLINE Singles LookupSingles(const float* table, Words index) {
  return (Singles)_mm512_maskz_permutexvar_ps(0xffff, (__m512i)index, _mm512_load_ps(table));
}

template <class Pieces, int j>
ASSAY_INLINE Singles HighFrom(Words index, Singles t) {
  const Singles c = LookupSingles(Pieces::kHigh[j], index);
  if constexpr (j + 1 == std::size(Pieces::kHigh)) {
    return c;
  } else {
    return (Singles)_mm512_fmadd_ps((__m512)HighFrom<Pieces, j + 1>(index, t), (__m512)t, (__m512)c);
  }
}
template <class Pieces, int j>
ASSAY_INLINE F64 LowFrom(U64 index, F64 t, F64 high) {
  if constexpr (j == std::size(Pieces::kLow)) {
    return high;
  } else {
    return Fma(LowFrom<Pieces, j + 1>(index, t, high), t, Lookup(Pieces::kLow[j], index));
  }
}

// A vector in memory, from where its halves are loaded by the instructions that widen them: extracting them
// would cost the port that looks up.
template <class Vector>
struct Halves {
  Vector value;
  ASSAY_TARGET explicit Halves(Vector v) : value(v) { asm("" : "+m"(value)); }
};
template <int half>
ASSAY_INLINE F64 Widen(const Halves<Singles>& x) {
  return (F64)_mm512_maskz_cvtps_pd(0xff, _mm256_load_ps(reinterpret_cast<const float*>(&x) + 8 * half));
}
template <int half>
ASSAY_INLINE U64 Widen(const Halves<Words>& x) {
  return (U64)_mm512_maskz_cvtepu32_epi64(0xff,
                                          _mm256_load_si256(reinterpret_cast<const __m256i*>(&x) + half));
}

// Some sum lies within 2^18 units of a midpoint of two normal floats, in its last place of 53 bits;
// or some x is NaN.
ASSAY_INLINE bool IsOpen(F64 first, F64 second, Singles x) {
  constexpr uint32_t kUnits = 1 << 18, kMidpoint = 1 << 28;
  const Words even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  const Words low = (Words)_mm512_permutex2var_epi32((__m512i)first, (__m512i)even, (__m512i)second);
  const __mmask16 near_midpoint = _mm512_testn_epi32_mask((__m512i)(low + (kMidpoint + kUnits)),
                                                          _mm512_set1_epi32(2 * kMidpoint - 2 * kUnits));
  const __mmask16 nan = _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q);
  return (near_midpoint | nan) != 0;
}

template <class Fn>
ASSAY_TARGET __attribute__((noinline)) Singles ByFormula(Singles x) {
  std::byte lanes[64];
  std::memcpy(lanes, &x, sizeof(x));
  Rounded<Fn, OfF32>::Run(lanes, lanes);
  Rounded<Fn, OfF32>::Run(lanes + 32, lanes + 32);
  std::memcpy(&x, lanes, sizeof(x));
  return x;
}

template <class Fn, class Pieces>
ASSAY_INLINE Singles ByPieces(Singles x) {
  const Singles magnitude = Least(Pieces::kLimit, (Singles)((Words)x & ~kSign32));  // NaN stays
  const Words index = (Words)(magnitude + Pieces::kOffset) >> 21;
  const Singles t = magnitude - LookupSingles(Pieces::kCenter, index);  // exact
  const Halves<Words> indices(index);
  const Halves<Singles> ts(t), high(HighFrom<Pieces, 0>(index, t));
  const F64 first = LowFrom<Pieces, 0>(Widen<0>(indices), Widen<0>(ts), Widen<0>(high));
  const F64 second = LowFrom<Pieces, 0>(Widen<1>(indices), Widen<1>(ts), Widen<1>(high));
  if (__builtin_expect(IsOpen(first, second, x), 0)) return ByFormula<Fn>(x);
  const __m512 y = _mm512_maskz_insertf32x8(0xffff, _mm512_castps256_ps512((__m256)Narrow(first)),
                                            (__m256)Narrow(second), 1);
  return (Singles)_mm512_ternarylogic_epi32((__m512i)y, (__m512i)x, _mm512_set1_epi32(INT32_MIN), 0xf8);
}

template <class Fn, class Pieces, bool streamed>
ASSAY_TARGET void ApplyPieces(int64_t n, const std::byte* const* operands, std::byte* out) {
  const std::byte* in = operands[0];
  for (; n >= kSingles; n -= kSingles, in += sizeof(Singles), out += sizeof(Singles)) {
    const auto y = (__m512)ByPieces<Fn, Pieces>((Singles)_mm512_loadu_ps(in));
    if constexpr (streamed) {
      _mm512_stream_ps(reinterpret_cast<float*>(out), y);
    } else {
      _mm512_storeu_ps(out, y);
    }
  }
  if (n == 0) return;
  const auto some = static_cast<__mmask16>((1 << n) - 1);
  const auto last = (Singles)_mm512_maskz_loadu_ps(some, in);
  _mm512_mask_storeu_ps(out, some, (__m512)ByPieces<Fn, Pieces>(last));
}

template <class Fn, class Pieces>
constexpr void ByPiecesIn(ProvenRow& row) {
  row.f32 = ApplyPieces<Fn, Pieces, false>;
  row.f32_streamed = ApplyPieces<Fn, Pieces, true>;
}

constexpr auto kRowsWithPieces = [] {
  auto rows = std::to_array(kRows);
  for (ProvenRow& row : rows) {
    if (row.opcode == Opcode::kTanh) ByPiecesIn<Tanh, TanhPieces>(row);
    if (row.opcode == Opcode::kErf) ByPiecesIn<Erf, ErfPieces>(row);
  }
  return rows;
}();

}  // namespace
}  // namespace assay::native::ASSAY_ISA::proven
