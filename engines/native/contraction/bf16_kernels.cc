// The headers of g++ 12 initialize operands that nobody reads by themselves.
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "engines/native/contraction/bf16_kernels.h"

#include <immintrin.h>

#define ASSAY_TARGET \
  __attribute__((target("avx512bf16,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))

namespace assay::native {
namespace {

constexpr int kVectors = kBf16TileColumns / 16;
// Sums of up to 2^14 squares in f32, their roots and products round by less than that altogether.
constexpr float kUp = 1 + 0x1p-9f;
// A product of two that are no smaller keeps its 16 bits in f32.
constexpr float kSmallest = 0x1p-60f;

struct Lanes {
  int at;
  __mmask16 mask;
};
ASSAY_INLINE Lanes LanesOf(int vector, int width) {
  const int rest = width - 16 * vector;
  return {16 * vector, static_cast<__mmask16>(rest >= 16 ? 0xffff : (1u << rest) - 1)};
}

// 16 rows of the panel: scales, and the exponent that is added to those of the elements.
ASSAY_INLINE bool FindScales(int64_t n, int width, const float* rows, const Lanes& lanes, Bf16Scales* scales,
                             __m512* shift) {
  const __m512i magnitudes = _mm512_set1_epi32(0x7fffffff);
  __m512i largest = _mm512_setzero_si512();
  for (int64_t k = 0; k < n; ++k) {
    const __m512i x = _mm512_maskz_loadu_epi32(lanes.mask, rows + k * width + lanes.at);
    largest = _mm512_max_epi32(largest, _mm512_and_si512(x, magnitudes));
  }
  if (_mm512_cmpge_epi32_mask(largest, _mm512_set1_epi32(0x7f800000)) != 0) return false;
  const __mmask16 any = _mm512_test_epi32_mask(largest, largest);
  const __m512 down = _mm512_maskz_sub_ps(any, _mm512_setzero_ps(),
                                          _mm512_maskz_getexp_ps(any, _mm512_castsi512_ps(largest)));
  __m512 squares = _mm512_setzero_ps(), weighted = squares, smallest = _mm512_set1_ps(__builtin_inff());
  for (int64_t k = 0; k < n; ++k) {
    const __m512 x = _mm512_maskz_loadu_ps(lanes.mask, rows + k * width + lanes.at);
    const __m512 t = _mm512_scalef_ps(x, down), square = _mm512_mul_ps(t, t);
    const auto weight = static_cast<float>(kBf16Chunk - k / 2 % kBf16Chunk);
    squares = _mm512_add_ps(squares, square);
    weighted = _mm512_fmadd_ps(square, _mm512_set1_ps(weight), weighted);
    const __mmask16 counts = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_OQ);
    smallest = _mm512_mask_min_ps(smallest, counts, smallest, _mm512_abs_ps(t));
  }
  const __m512 up = _mm512_set1_ps(kUp);
  const __m512 norm = _mm512_mul_ps(_mm512_sqrt_ps(squares), up);
  const __m512 further = _mm512_maskz_sub_ps(any, _mm512_set1_ps(14), _mm512_maskz_getexp_ps(any, norm));
  *shift = _mm512_add_ps(down, further);
  const __m512 root = _mm512_sqrt_ps(_mm512_mul_ps(weighted, _mm512_set1_ps(0x1p-23f)));
  smallest = _mm512_scalef_ps(smallest, further);
  _mm512_storeu_ps(scales->weighted + lanes.at, _mm512_scalef_ps(_mm512_mul_ps(root, up), further));
  _mm512_storeu_ps(scales->norm + lanes.at, _mm512_scalef_ps(norm, further));
  _mm512_storeu_ps(scales->exponent + lanes.at, _mm512_sub_ps(_mm512_setzero_ps(), *shift));
  _mm512_storeu_ps(scales->smallest + lanes.at, smallest);
  return _mm512_reduce_min_ps(smallest) >= kSmallest;
}

ASSAY_TARGET bool Pack(int64_t n, int width, const float* rows, uint32_t* pairs, Bf16Scales* scales) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  for (int v = 0; v < kVectors && 16 * v < width; ++v) {
    const Lanes lanes = LanesOf(v, width);
    __m512 shift;
    if (!FindScales(n, width, rows, lanes, scales, &shift)) return false;
    const auto element = [&](int64_t k) __attribute__((always_inline, target("avx512f"))) {
      const __m512 x =
          k < n ? _mm512_maskz_loadu_ps(lanes.mask, rows + k * width + lanes.at) : _mm512_setzero_ps();
      return _mm512_castps_si512(_mm512_scalef_ps(x, shift));
    };
    const int64_t padded = (n + 31) / 32 * 16;
    for (int64_t k = 0; k < padded; ++k) {
      const __m512i low = _mm512_srli_epi32(element(2 * k), 16), high = element(2 * k + 1);
      _mm512_mask_storeu_epi32(pairs + k * width + lanes.at, lanes.mask,
                               _mm512_or_si512(low, _mm512_and_si512(high, upper)));
    }
  }
  return true;
}

// A panel of 32 rows, 16 pairs of a row at a time.
ASSAY_TARGET void Transpose(int64_t n, const uint32_t* pairs, uint32_t* rows, int64_t step) {
  const __m512i lanes =
      _mm512_mullo_epi32(_mm512_set1_epi32(kBf16TileColumns),
                         _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  for (int64_t k = 0; k < n; k += 16, pairs += 16 * kBf16TileColumns) {
    for (int r = 0; r < kBf16TileColumns; ++r)
      _mm512_storeu_si512(rows + r * step + k, _mm512_i32gather_epi32(lanes, pairs + r, 4));
  }
}

ASSAY_TARGET void Tile(int64_t n, const uint32_t* a, const uint32_t* b, bool first, int32_t* c,
                       int64_t step) {
  for (int64_t k = 0; k < n; k += kBf16Chunk, first = false) {
    __m512 s[kBf16TileRows][2];
#pragma GCC unroll 12
    for (int r = 0; r < kBf16TileRows; ++r) s[r][0] = s[r][1] = _mm512_setzero_ps();
    const int64_t count = n - k < kBf16Chunk ? n - k : kBf16Chunk;
    for (int64_t i = 0; i < count; ++i, a += kBf16TileRows, b += kBf16TileColumns) {
      const auto b0 = (__m512bh)_mm512_loadu_si512(b), b1 = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
      for (int r = 0; r < kBf16TileRows; ++r) {
        const auto x = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[r]));
        s[r][0] = _mm512_dpbf16_ps(s[r][0], x, b0);
        s[r][1] = _mm512_dpbf16_ps(s[r][1], x, b1);
      }
    }
#pragma GCC unroll 12
    for (int r = 0; r < kBf16TileRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        int32_t* const at = c + r * step + 16 * v;
        const __m512i sum = _mm512_cvtps_epi32(s[r][v]);
        _mm512_storeu_si512(at, first ? sum : _mm512_add_epi32(sum, _mm512_loadu_si512(at)));
      }
    }
  }
}

ASSAY_TARGET uint32_t Round(const int32_t* sums, const Bf16Row& row, const float* weighted,
                            const float* exponents, uint16_t* out) {
  constexpr int kRoundUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC,
                kRoundDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  const __m512 of_columns = _mm512_loadu_ps(weighted);
  const __mmask16 zero =
      row.weighted == 0 ? 0xffff : _mm512_cmp_ps_mask(of_columns, _mm512_setzero_ps(), _CMP_EQ_OQ);
  const __m512i bound = _mm512_cvt_roundps_epi32(
      _mm512_fmadd_round_ps(of_columns, _mm512_set1_ps(row.weighted), _mm512_set1_ps(row.slack), kRoundUp),
      kRoundUp);
  const __m512i sum = _mm512_loadu_si512(sums);
  const __m512 scale = _mm512_add_ps(_mm512_set1_ps(row.exponent), _mm512_loadu_ps(exponents));
  const auto end = [&](__m512 x) __attribute__((always_inline, target("avx512f,avx512bf16,avx512vl"))) {
    // The nearest bf16, ties to even; what is not normal is left open anyway.
    return (__m256i)_mm512_cvtneps_pbh(_mm512_scalef_ps(x, scale));
  };
  const __m256i low = end(_mm512_cvt_roundepi32_ps(_mm512_sub_epi32(sum, bound), kRoundDown)),
                high = end(_mm512_cvt_roundepi32_ps(_mm512_add_epi32(sum, bound), kRoundUp));
  const __m256i magnitude = _mm256_and_si256(low, _mm256_set1_epi16(0x7fff));
  const __mmask16 normal = _mm256_cmpge_epi16_mask(magnitude, _mm256_set1_epi16(0x80)) &
                           _mm256_cmplt_epi16_mask(magnitude, _mm256_set1_epi16(0x7f80));
  const __mmask16 done = (_mm256_cmpeq_epi16_mask(low, high) & normal) | zero;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm256_maskz_mov_epi16(static_cast<__mmask16>(~zero), low));
  return static_cast<uint16_t>(~done);
}

// Widened to doubles.
ASSAY_INLINE void AddWidened(__m512 terms, __m512d* sums) {
  sums[0] = _mm512_add_pd(sums[0], _mm512_cvtps_pd(_mm512_castps512_ps256(terms)));
  sums[1] = _mm512_add_pd(sums[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(terms, 1)));
}

ASSAY_TARGET double Dot(int64_t n, const uint32_t* a, const uint32_t* b) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  __m512d sums[4];
  for (__m512d& sum : sums) sum = _mm512_setzero_pd();
  for (int64_t k = 0; k < n; k += 16) {
    const __m512i x = _mm512_loadu_si512(a + k), y = _mm512_loadu_si512(b + k);
    AddWidened(_mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)),
                             _mm512_castsi512_ps(_mm512_slli_epi32(y, 16))),
               sums);
    AddWidened(_mm512_mul_ps(_mm512_castsi512_ps(_mm512_and_si512(x, upper)),
                             _mm512_castsi512_ps(_mm512_and_si512(y, upper))),
               sums + 2);
  }
  return _mm512_reduce_add_pd(
      _mm512_add_pd(_mm512_add_pd(sums[0], sums[1]), _mm512_add_pd(sums[2], sums[3])));
}

ASSAY_INLINE void AddPairs(const uint32_t* a, const uint32_t* b, __m512d* sums) {
  const auto x = (__m512bh)_mm512_loadu_si512(a), y = (__m512bh)_mm512_loadu_si512(b);
  AddWidened(_mm512_dpbf16_ps(_mm512_setzero_ps(), x, y), sums);
}

ASSAY_TARGET double PairDot(int64_t n, const uint32_t* a, const uint32_t* b) {
  __m512d sums[4];
  for (__m512d& sum : sums) sum = _mm512_setzero_pd();
  int64_t k = 0;
  for (; k + 32 <= n; k += 32) {
    AddPairs(a + k, b + k, sums);
    AddPairs(a + k + 16, b + k + 16, sums + 2);
  }
  if (k < n) AddPairs(a + k, b + k, sums);
  return _mm512_reduce_add_pd(
      _mm512_add_pd(_mm512_add_pd(sums[0], sums[1]), _mm512_add_pd(sums[2], sums[3])));
}

constexpr Bf16Kernels kKernels = {Pack, Transpose, Tile, Round, Dot, PairDot};

}  // namespace

const Bf16Kernels* Bf16KernelsOf(Isa isa) {
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return isa == Isa::kAvx512 && has ? &kKernels : nullptr;
}

}  // namespace assay::native
#pragma GCC diagnostic pop
