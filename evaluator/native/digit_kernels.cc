// The headers of g++ 12 initialize operands that nobody reads by themselves.
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "evaluator/native/digit_kernels.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "evaluator/native/integer_kernels.h"

#define ASSAY_TARGET \
  __attribute__((target("amx-tile,amx-int8,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))
#define ASSAY_INLINE ASSAY_TARGET static inline __attribute__((always_inline))

namespace assay::native {
namespace {

constexpr int64_t kPlane = kDigitRows * kDigitRows;

// The exponents that make the largest magnitude of each row one between 2^22 and 2^23; false where one is not finite.
ASSAY_INLINE bool FindUnits(int64_t n, const float* rows, __m512* shift, DigitScales* scales) {
  const __m512i magnitudes = _mm512_set1_epi32(0x7fffffff);
  __m512i largest = _mm512_setzero_si512();
  for (int64_t k = 0; k < n; ++k) {
    const __m512i x = _mm512_loadu_si512(rows + k * kDigitRows);
    largest = _mm512_max_epi32(largest, _mm512_and_si512(x, magnitudes));
  }
  if (_mm512_cmpge_epi32_mask(largest, _mm512_set1_epi32(0x7f800000)) != 0) return false;
  const __mmask16 any = _mm512_test_epi32_mask(largest, largest);
  const __m512 exponent = _mm512_maskz_getexp_ps(any, _mm512_castsi512_ps(largest));
  *shift = _mm512_maskz_sub_ps(any, _mm512_set1_ps(22), exponent);
  alignas(64) float shifts[kDigitRows];
  _mm512_store_ps(shifts, *shift);
  for (int r = 0; r < kDigitRows; ++r)
    scales->unit[r] =
        std::bit_cast<double>(static_cast<uint64_t>(1023 - static_cast<int64_t>(shifts[r])) << 52);
  return true;
}

// 16 x 16 of 32 bits.
ASSAY_INLINE void Transpose(__m512i* rows) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    rows[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    rows[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    rows[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    rows[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// What is known while a panel is packed.
struct Packing {
  const DigitPanel& panel;
  DigitScales* scales;
  int64_t most;
  __m512 shift, smallest;  // of the magnitudes but 0
};

void AddRemainders(unsigned some, int64_t k, const float* values, const Packing& packing) {
  DigitScales& scales = *packing.scales;
  for (; some != 0; some &= some - 1) {
    const int r = std::countr_zero(some);
    scales.remainders[r] += std::fabs(values[r]);
    if (scales.remainder_count < packing.most)
      packing.panel.remainders[scales.remainder_count] = {static_cast<int32_t>(k), r, values[r]};
    ++scales.remainder_count;
  }
}

// The integers of element k of each row.
ASSAY_INLINE __m512i TakeIntegers(int64_t k, const float* rows, Packing* packing) {
  const __m512 x = _mm512_scalef_ps(_mm512_loadu_ps(rows + k * kDigitRows), packing->shift);
  const __mmask16 any = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_OQ);
  packing->smallest = _mm512_mask_min_ps(packing->smallest, any, packing->smallest, _mm512_abs_ps(x));
  const __m512i integer = _mm512_cvtps_epi32(x);
  const __m512 remainder = _mm512_sub_ps(x, _mm512_cvtepi32_ps(integer));
  const __mmask16 some = _mm512_cmp_ps_mask(remainder, _mm512_setzero_ps(), _CMP_NEQ_OQ);
  if (some != 0) {
    alignas(64) float values[kDigitRows];
    _mm512_store_ps(values, remainder);
    AddRemainders(some, k, values, *packing);
  }
  return integer;
}

// Bytes 0 to 2 of integers k, … , k + 3 in each lane, side by side.
ASSAY_INLINE void GroupDigits(const __m512i* x, __m512i* low, __m512i* middle, __m512i* high) {
  // Of 4 x 4 bytes the columns: pairs of bytes, then pairs of pairs.
  const __m512i words = _mm512_set1_epi32(0xffff);
  const __m512i by_byte = _mm512_set4_epi32(0x0f0d0e0c, 0x0b090a08, 0x07050604, 0x03010200);
  const auto lower = [&](__m512i a, __m512i b) __attribute__((always_inline, target("avx512f,avx512bw"))) {
    return _mm512_shuffle_epi8(_mm512_or_si512(_mm512_and_si512(a, words), _mm512_slli_epi32(b, 16)),
                               by_byte);
  };
  const auto third = [&](__m512i a, __m512i b) __attribute__((always_inline, target("avx512f,avx512bw"))) {
    return _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(a, 16), _mm512_set1_epi32(0xff)),
                           _mm512_and_si512(_mm512_srli_epi32(b, 8), _mm512_set1_epi32(0xff00)));
  };
  const __m512i even = lower(x[0], x[1]), odd = lower(x[2], x[3]);
  *low = _mm512_or_si512(_mm512_and_si512(even, words), _mm512_slli_epi32(odd, 16));
  *middle = _mm512_or_si512(_mm512_srli_epi32(even, 16), _mm512_andnot_si512(words, odd));
  *high = _mm512_or_si512(third(x[0], x[1]), _mm512_slli_epi32(third(x[2], x[3]), 16));
}

ASSAY_INLINE void CollectSigns(int64_t n, const float* elements, DigitScales* scales) {
  for (uint64_t& signs : scales->signs) signs = 0;
  for (int64_t k = 0; k < n && k < 64; ++k) {
    const __mmask16 signs = _mm512_movepi32_mask(_mm512_loadu_si512(elements + k * kDigitRows));
    for (int r = 0; r < kDigitRows; ++r) scales->signs[r] |= static_cast<uint64_t>(signs >> r & 1) << k;
  }
}

ASSAY_TARGET bool Pack(int64_t n, const float* rows, bool left, int64_t most, const DigitPanel& panel,
                       DigitScales* scales) {
  Packing packing{panel, scales, most, _mm512_setzero_ps(), _mm512_set1_ps(1)};
  CollectSigns(n, rows, scales);
  if (!FindUnits(n, rows, &packing.shift, scales)) return false;
  scales->remainder_count = 0;
  for (double& sum : scales->remainders) sum = 0;
  constexpr int kGroups = kDigitLine / 4;
  __m512i lows = _mm512_setzero_si512();
  int64_t to = 0;
  for (int64_t k = 0; k < n; k += kDigitLine, to += kDigitRows * kDigitLine) {
    __m512i digits[kDigits][kGroups];
    for (int g = 0; g < kGroups; ++g) {
      __m512i x[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const int64_t at = k + 4 * g + i;
        x[i] = at < n ? TakeIntegers(at, rows, &packing) : _mm512_setzero_si512();
      }
      GroupDigits(x, &digits[0][g], &digits[1][g], &digits[2][g]);
      lows = _mm512_or_si512(lows, digits[0][g]);
    }
    for (int d = 0; d < kDigits; ++d) {
      if (left) Transpose(digits[d]);
      for (int g = 0; g < kGroups; ++g)
        _mm512_storeu_si512(panel.digits[d] + to + g * kDigitLine, digits[d][g]);
    }
    if (scales->remainder_count > most) return false;
  }
  scales->has_low = _mm512_test_epi32_mask(lows, lows) != 0;
  // Far smaller ones could underflow.
  return _mm512_reduce_min_ps(packing.smallest) >= 0x1p-100F;
}

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {kDigitLine, kDigitLine, kDigitLine, kDigitLine,
                            kDigitLine, kDigitLine, kDigitLine, kDigitLine};
  uint8_t rows[16] = {kDigitRows, kDigitRows, kDigitRows, kDigitRows,
                      kDigitRows, kDigitRows, kDigitRows, kDigitRows};
};

ASSAY_TARGET void Configure() {
  static const TileConfiguration configuration;
  _tile_loadconfig(&configuration);
}
ASSAY_TARGET void Release() { _tile_release(); }

// sums[256 d]: those worth 2^(8 d). The right panel stays in cache from one block to the next; left ones stream past it.
ASSAY_INLINE void MultiplyDigits(int64_t n, const DigitPanel& a, const DigitPanel& b, int32_t* sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  const int64_t bytes = n * kDigitRows;
  for (int64_t at = 0; at < bytes; at += kDigitRows * kDigitLine) {
    _tile_stream_loadd(5, a.digits[2] + at, kDigitLine);
    _tile_loadd(6, b.digits[2] + at, kDigitLine);
    _tile_dpbssd(4, 5, 6);
    _tile_loadd(7, b.digits[1] + at, kDigitLine);
    _tile_dpbsud(3, 5, 7);
    _tile_loadd(6, b.digits[0] + at, kDigitLine);
    _tile_dpbsud(2, 5, 6);
    _tile_stream_loadd(5, a.digits[1] + at, kDigitLine);
    _tile_dpbuud(1, 5, 6);
    _tile_dpbuud(2, 5, 7);
    _tile_loadd(6, b.digits[2] + at, kDigitLine);
    _tile_dpbusd(3, 5, 6);
    _tile_stream_loadd(5, a.digits[0] + at, kDigitLine);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbuud(1, 5, 7);
    _tile_loadd(6, b.digits[0] + at, kDigitLine);
    _tile_dpbuud(0, 5, 6);
  }
  _tile_stored(0, sums, kDigitLine);
  _tile_stored(1, sums + kPlane, kDigitLine);
  _tile_stored(2, sums + 2 * kPlane, kDigitLine);
  _tile_stored(3, sums + 3 * kPlane, kDigitLine);
  _tile_stored(4, sums + 4 * kPlane, kDigitLine);
}

// The same where all low digits are 0.
ASSAY_INLINE void MultiplyTwoDigits(int64_t n, const DigitPanel& a, const DigitPanel& b, int32_t* sums) {
  _tile_zero(0);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  const int64_t bytes = n * kDigitRows;
  for (int64_t at = 0; at < bytes; at += kDigitRows * kDigitLine) {
    _tile_stream_loadd(5, a.digits[2] + at, kDigitLine);
    _tile_loadd(6, b.digits[2] + at, kDigitLine);
    _tile_dpbssd(4, 5, 6);
    _tile_loadd(7, b.digits[1] + at, kDigitLine);
    _tile_dpbsud(3, 5, 7);
    _tile_stream_loadd(5, a.digits[1] + at, kDigitLine);
    _tile_dpbuud(2, 5, 7);
    _tile_dpbusd(3, 5, 6);
  }
  _tile_stored(0, sums, kDigitLine);
  _tile_stored(0, sums + kPlane, kDigitLine);
  _tile_stored(2, sums + 2 * kPlane, kDigitLine);
  _tile_stored(3, sums + 3 * kPlane, kDigitLine);
  _tile_stored(4, sums + 4 * kPlane, kDigitLine);
}

double IntegerAt(const DigitPanel& panel, int64_t at) {
  return static_cast<double>(static_cast<int8_t>(panel.digits[2][at]) * 65536 +
                             static_cast<int>(panel.digits[1][at]) * 256 +
                             static_cast<int>(panel.digits[0][at]));
}

// sum da B + sum A db.
void MultiplyRemainders(const DigitPanel& a, const DigitPanel& b, double* sums) {
  std::fill_n(sums, kPlane, 0.0);
  for (int64_t t = 0; t < a.scales->remainder_count; ++t) {
    const DigitRemainder& rest = a.remainders[t];
    const int64_t at = rest.k / 4 * 4 * kDigitRows + rest.k % 4;
    for (int j = 0; j < kDigitRows; ++j)
      sums[rest.row * kDigitRows + j] += rest.value * IntegerAt(b, at + 4 * j);
  }
  for (int64_t t = 0; t < b.scales->remainder_count; ++t) {
    const DigitRemainder& rest = b.remainders[t];
    const int64_t at = rest.k / kDigitLine * kDigitLine * kDigitRows + rest.k % kDigitLine;
    for (int i = 0; i < kDigitRows; ++i)
      sums[i * kDigitRows + rest.row] += rest.value * IntegerAt(a, at + kDigitLine * i);
  }
}

ASSAY_INLINE __m512d Load(const int32_t* p) {
  return _mm512_cvtepi32_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
}

struct BlockSums {
  alignas(64) int32_t integers[5 * kPlane];
  alignas(64) double of_remainders[kPlane];
};

// The whole sums of 8 elements of row i, and their bounds. With U = 2^-53: the sum of the integers' two parts, each exact,
// is off by U of itself, or by 0 where TwoSum says so. The sum of c products of remainders is off by
// (c + 1) U 2^23 (sum |da| + sum |db|), and sum da db, which it lacks, is at most sum |da| / 2, where there is a db; its
// addition rounds by U of the result. Another 2 U are for the rounding of sum -+ bound.
ASSAY_INLINE void StoreSums(const BlockSums& sums, const DigitPanel& a, const DigitPanel& b, int i, int half,
                            DigitBlock* block) {
  const int at = i * kDigitRows + 8 * half;
  const int32_t* const integers = sums.integers + at;
  const __m512d upper = _mm512_fmadd_pd(Load(integers + 4 * kPlane), _mm512_set1_pd(0x1p32),
                                        _mm512_mul_pd(Load(integers + 3 * kPlane), _mm512_set1_pd(0x1p24)));
  const __m512d middle = _mm512_fmadd_pd(Load(integers + kPlane), _mm512_set1_pd(0x1p8), Load(integers));
  const __m512d lower = _mm512_fmadd_pd(Load(integers + 2 * kPlane), _mm512_set1_pd(0x1p16), middle);
  __m512d sum = _mm512_add_pd(upper, lower);
  const __m512d z = _mm512_sub_pd(sum, upper);
  const __m512d error = _mm512_add_pd(_mm512_sub_pd(upper, _mm512_sub_pd(sum, z)), _mm512_sub_pd(lower, z));
  __mmask8 rounded = _mm512_cmp_pd_mask(error, _mm512_setzero_pd(), _CMP_NEQ_OQ);
  __m512d bound = _mm512_setzero_pd();
  const int64_t remainders = a.scales->remainder_count + b.scales->remainder_count;
  if (remainders != 0) {
    const __m512d of_a = _mm512_set1_pd(a.scales->remainders[i]),
                  of_b = _mm512_loadu_pd(b.scales->remainders + 8 * half);
    const __mmask8 some_b = _mm512_cmp_pd_mask(of_b, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    const __m512d both = _mm512_add_pd(of_a, of_b);
    const double factor = static_cast<double>(remainders + 3) * 1.01 * 0x1p-30;
    bound =
        _mm512_fmadd_pd(both, _mm512_set1_pd(factor), _mm512_maskz_mul_pd(some_b, of_a, _mm512_set1_pd(0.5)));
    rounded |= _mm512_cmp_pd_mask(both, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    sum = _mm512_add_pd(sum, _mm512_load_pd(sums.of_remainders + at));
  }
  bound = _mm512_maskz_fmadd_pd(rounded, _mm512_abs_pd(sum), _mm512_set1_pd(0x1p-50), bound);
  const __m512d scale =
      _mm512_mul_pd(_mm512_set1_pd(a.scales->unit[i]), _mm512_loadu_pd(b.scales->unit + 8 * half));
  _mm512_store_pd(block->sums + at, _mm512_mul_pd(sum, scale));
  _mm512_store_pd(block->bounds + at, _mm512_mul_pd(bound, scale));
}

ASSAY_TARGET void Multiply(int64_t n, const DigitPanel& a, const DigitPanel& b, DigitBlock* block) {
  BlockSums sums;
  if (a.scales->has_low || b.scales->has_low) {
    MultiplyDigits(n, a, b, sums.integers);
  } else {
    MultiplyTwoDigits(n, a, b, sums.integers);
  }
  if (a.scales->remainder_count + b.scales->remainder_count != 0)
    MultiplyRemainders(a, b, sums.of_remainders);
  for (int i = 0; i < kDigitRows; ++i) {
    StoreSums(sums, a, b, i, 0, block);
    StoreSums(sums, a, b, i, 1, block);
  }
}

ASSAY_TARGET void RoundF32(const DigitBlock& block, int64_t rows, int64_t columns, float* out, int64_t stride,
                           uint16_t* open, uint16_t* zero) {
  const auto wanted = static_cast<__mmask16>((1u << columns) - 1);
  for (int64_t i = 0; i < rows; ++i) {
    const double *const sums = block.sums + i * kDigitRows, *const bounds = block.bounds + i * kDigitRows;
    __m512 ends[2];
    unsigned zeros = 0;
#pragma GCC unroll 2
    for (int end = 0; end < 2; ++end) {
      __m256 halves[2];
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        const __m512d s = _mm512_load_pd(sums + 8 * h), e = _mm512_load_pd(bounds + 8 * h);
        const __m512d x = end == 0 ? _mm512_sub_pd(s, e) : _mm512_add_pd(s, e);
        halves[h] = _mm512_cvtpd_ps(x);
        // A zero at either end is one at both, or the element is open.
        zeros |= static_cast<unsigned>(_mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_EQ_OQ)) << (8 * h);
      }
      ends[end] = _mm512_insertf32x8(_mm512_castps256_ps512(halves[0]), halves[1], 1);
    }
    open[i] = wanted & _mm512_cmpneq_epi32_mask(_mm512_castps_si512(ends[0]), _mm512_castps_si512(ends[1]));
    zero[i] = wanted & zeros & ~open[i];
    _mm512_mask_storeu_ps(out + i * stride, wanted, ends[0]);
  }
}

constexpr DigitKernels kKernels = {Pack, Multiply, RoundF32, Configure, Release};

}  // namespace

const DigitKernels* DigitKernelsOf(Isa isa) {
  return isa == Isa::kAvx512 && HasByteTiles() ? &kKernels : nullptr;
}

}  // namespace assay::native
