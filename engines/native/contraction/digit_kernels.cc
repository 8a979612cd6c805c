// The headers of g++ 12 initialize operands that nobody reads by themselves.
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "engines/native/contraction/digit_kernels.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engines/native/contraction/integer_kernels.h"

#define ASSAY_TARGET \
  __attribute__((target("amx-tile,amx-int8,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))

namespace assay::native {
namespace {

constexpr int64_t kPlane = kDigitRows * kDigitRows;

// The exponents that make the largest magnitude of each row one between 2^22 and 2^23;
// false where one is not finite.
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
    scales.remainder_rows |= static_cast<uint16_t>(1u << r);
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

// The last of the 11 bits of the smallest element below 1; of larger ones 2^-10 is a lower one.
ASSAY_INLINE void StoreLowUnits(const Packing& packing) {
  alignas(64) float exponents[kDigitRows];
  _mm512_store_ps(exponents, _mm512_getexp_ps(packing.smallest));
  for (int r = 0; r < kDigitRows; ++r) {
    packing.scales->low[r] =
        packing.scales->remainders[r] == 0 ? 1 : std::ldexp(1.0, static_cast<int>(exponents[r]) - 10);
  }
}

ASSAY_TARGET bool Pack(int64_t n, const float* rows, bool left, int64_t most, const DigitPanel& panel,
                       DigitScales* scales) {
  Packing packing{panel, scales, most, _mm512_setzero_ps(), _mm512_set1_ps(1)};
  if (!FindUnits(n, rows, &packing.shift, scales)) return false;
  scales->remainder_count = 0;
  scales->remainder_rows = 0;
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
  StoreLowUnits(packing);
  // Far smaller ones could underflow.
  return _mm512_reduce_min_ps(packing.smallest) >= 0x1p-100F;
}

struct alignas(64) DigitTileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {kDigitLine, kDigitLine, kDigitLine, kDigitLine,
                            kDigitLine, kDigitLine, kDigitLine, kDigitLine};
  uint8_t rows[16] = {kDigitRows, kDigitRows, kDigitRows, kDigitRows,
                      kDigitRows, kDigitRows, kDigitRows, kDigitRows};
};

ASSAY_TARGET void Configure() {
  static const DigitTileConfiguration configuration;
  _tile_loadconfig(&configuration);
}
ASSAY_TARGET void Release() { _tile_release(); }

// sums[256 d]: those worth 2^(8 d). The right panel stays in cache from one block to the next;
// left ones stream past it.
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

// The integers of whose digits lane r has byte `byte` of lines[d].
ASSAY_INLINE __m512i JoinDigits(const __m512i* lines, int64_t byte) {
  const __m128i down = _mm_cvtsi64_si128(8 * byte), up = _mm_cvtsi64_si128(24 - 8 * byte);
  const __m512i one_byte = _mm512_set1_epi32(0xff);
  const __m512i low = _mm512_and_si512(_mm512_srl_epi32(lines[0], down), one_byte);
  const __m512i middle = _mm512_and_si512(_mm512_srl_epi32(lines[1], down), one_byte);
  const __m512i high = _mm512_srai_epi32(_mm512_sll_epi32(lines[2], up), 24);
  return _mm512_or_si512(low, _mm512_or_si512(_mm512_slli_epi32(middle, 8), _mm512_slli_epi32(high, 16)));
}

// Element k of each row of a right panel, of a left one.
ASSAY_INLINE __m512i RightIntegers(const DigitPanel& panel, int64_t k) {
  __m512i lines[kDigits];
  for (int d = 0; d < kDigits; ++d) lines[d] = _mm512_loadu_si512(panel.digits[d] + k / 4 * 4 * kDigitRows);
  return JoinDigits(lines, k % 4);
}
ASSAY_INLINE __m512i LeftIntegers(const DigitPanel& panel, int64_t k) {
  const __m512i rows =
      _mm512_slli_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 6);
  __m512i lines[kDigits];
  for (int d = 0; d < kDigits; ++d) {
    const std::byte* const at =
        panel.digits[d] + k / kDigitLine * kDigitLine * kDigitRows + k % kDigitLine / 4 * 4;
    lines[d] = _mm512_i32gather_epi32(rows, at, 1);
  }
  return JoinDigits(lines, k % 4);
}

// out[r] += value * integers[r]; each product is exact.
ASSAY_INLINE void AddMultiples(double value, __m512i integers, double* out) {
  const __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(integers)),
                high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(integers, 1));
  const __m512d factor = _mm512_set1_pd(value);
  _mm512_storeu_pd(out, _mm512_fmadd_pd(factor, low, _mm512_loadu_pd(out)));
  _mm512_storeu_pd(out + 8, _mm512_fmadd_pd(factor, high, _mm512_loadu_pd(out + 8)));
}

// sum da B + sum A db + sum da db.
ASSAY_INLINE void MultiplyRemainders(const DigitPanel& a, const DigitPanel& b, double* sums) {
  for (int64_t i = 0; i < kPlane; i += 8) _mm512_store_pd(sums + i, _mm512_setzero_pd());
  const DigitRemainder *const a_end = a.remainders + a.scales->remainder_count, *const b_end =
                                                                                    b.remainders +
                                                                                    b.scales->remainder_count;
  for (const DigitRemainder* rest = a.remainders; rest != a_end; ++rest)
    AddMultiples(rest->value, RightIntegers(b, rest->k), sums + rest->row * kDigitRows);
  for (const DigitRemainder* rest = b.remainders; rest != b_end; ++rest) {
    alignas(64) double column[kDigitRows] = {};
    AddMultiples(rest->value, LeftIntegers(a, rest->k), column);
    for (int i = 0; i < kDigitRows; ++i) sums[i * kDigitRows + rest->row] += column[i];
  }
  // Both lists ascend in k.
  const DigitRemainder* from = b.remainders;
  for (const DigitRemainder* left = a.remainders; left != a_end; ++left) {
    while (from != b_end && from->k < left->k) ++from;
    for (const DigitRemainder* right = from; right != b_end && right->k == left->k; ++right)
      sums[left->row * kDigitRows + right->row] += left->value * right->value;
  }
}

struct BlockSums {
  alignas(64) int32_t integers[5 * kPlane];
  alignas(64) double of_remainders[kPlane];
};

// Eight elements of a block: neighbours in a row, or in a column.
struct Lanes {
  int at;        // of the first
  bool by_rows;  // neighbours in a row
};
ASSAY_INLINE __m256i Positions(const Lanes& lanes) {
  return _mm256_add_epi32(_mm256_set1_epi32(lanes.at),
                          _mm256_slli_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), 4));
}

// sum A B, below 2^14 2^46.
ASSAY_INLINE __m512i IntegerSums(const int32_t* integers, const Lanes& lanes) {
  __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 5
  for (int d = 4; d >= 0; --d) {
    const int32_t* const plane = integers + d * kPlane;
    const __m256i x = lanes.by_rows ? _mm256_load_si256(reinterpret_cast<const __m256i*>(plane + lanes.at))
                                    : _mm256_i32gather_epi32(plane, Positions(lanes), 4);
    sum = _mm512_add_epi64(_mm512_slli_epi64(sum, 8), _mm512_cvtepi32_epi64(x));
  }
  return sum;
}

// Rounded to odd where it has more than 53 bits, or even more than 43: to a multiple of 2^10, of the two next
// ones the odd one. Enough for formats of 24 bits.
ASSAY_INLINE __m512d ToDoubles(__m512i sum) {
  const __mmask8 large = _mm512_cmpge_epu64_mask(_mm512_abs_epi64(sum), _mm512_set1_epi64(int64_t{1} << 53));
  if (large != 0) {
    const __mmask8 cut = large & _mm512_test_epi64_mask(sum, _mm512_set1_epi64(0x3ff));
    sum = _mm512_mask_and_epi64(sum, cut, sum, _mm512_set1_epi64(~int64_t{0x3ff}));
    sum = _mm512_mask_or_epi64(sum, cut, sum, _mm512_set1_epi64(0x400));
  }
  return _mm512_cvtepi64_pd(sum);
}

ASSAY_INLINE void StoreSums(const BlockSums& sums, const DigitPanel& a, const DigitPanel& b,
                            DigitBlock* block) {
  for (int half = 0; half < 2; ++half) {
    const __m512d unit = _mm512_loadu_pd(b.scales->unit + 8 * half);
    for (int i = 0; i < kDigitRows; ++i) {
      const int at = i * kDigitRows + 8 * half;
      const __m512d sum = ToDoubles(IntegerSums(sums.integers, {at, true}));
      const __m512d scale = _mm512_mul_pd(_mm512_set1_pd(a.scales->unit[i]), unit);
      _mm512_store_pd(block->sums + at, _mm512_mul_pd(sum, scale));
      if (!block->exact) _mm512_store_pd(block->bounds + at, _mm512_setzero_pd());
    }
  }
}

// high + low = x + y, high the nearest double of that.
struct VectorPair {
  __m512d high, low;
};
ASSAY_INLINE VectorPair TwoSum(__m512d x, __m512d y) {
  const __m512d s = _mm512_add_pd(x, y), z = _mm512_sub_pd(s, x);
  return {s, _mm512_add_pd(_mm512_sub_pd(x, _mm512_sub_pd(s, z)), _mm512_sub_pd(y, z))};
}

// high + low rounded to odd: toward zero, with the last bit set where that cut something off.
ASSAY_INLINE __m512d RoundToOdd(const VectorPair& x) {
  const __mmask8 cut = _mm512_cmp_pd_mask(x.low, _mm512_setzero_pd(), _CMP_NEQ_OQ);
  const __m512i bits = _mm512_castpd_si512(x.high);
  const __mmask8 beyond = cut & _mm512_movepi64_mask(_mm512_xor_si512(bits, _mm512_castpd_si512(x.low)));
  const __m512i toward_zero = _mm512_mask_sub_epi64(bits, beyond, bits, _mm512_set1_epi64(1));
  return _mm512_castsi512_pd(_mm512_mask_or_epi64(bits, cut, toward_zero, _mm512_set1_epi64(1)));
}

ASSAY_INLINE __m512d LaneValues(const double* values, const Lanes& lanes) {
  return lanes.by_rows ? _mm512_load_pd(values + lanes.at) : _mm512_i32gather_pd(Positions(lanes), values, 8);
}
ASSAY_INLINE void StoreLanes(__m512d x, const Lanes& lanes, double* values) {
  if (lanes.by_rows) {
    _mm512_store_pd(values + lanes.at, x);
  } else {
    _mm512_i32scatter_pd(values, Positions(lanes), x, 8);
  }
}
// Of the lanes' rows in one operand: one for all, or eight neighbours.
ASSAY_INLINE __m512d RowValues(const double* values, int row, bool all_one) {
  return all_one ? _mm512_set1_pd(values[row]) : _mm512_loadu_pd(values + row);
}

// Sums with products of remainders. These are multiples of the low units' product; below 2^53 times that no
// sum of them rounds. Where they may, with U = 2^-53: the sum of c products is off by (c + 1) U 2^23
// (sum |da| + sum |db|), the whole by U of itself, and another 2 U are for the rounding of sum -+ bound.
ASSAY_INLINE void AddRemainders(const BlockSums& sums, const DigitScales& a, const DigitScales& b,
                                const Lanes& lanes, DigitBlock* block) {
  const int i = lanes.at / kDigitRows, j = lanes.at % kDigitRows;
  const __m512d magnitudes = _mm512_add_pd(RowValues(a.remainders, i, lanes.by_rows),
                                           RowValues(b.remainders, j, !lanes.by_rows)),
                low = _mm512_mul_pd(RowValues(a.low, i, lanes.by_rows), RowValues(b.low, j, !lanes.by_rows)),
                unit =
                    _mm512_mul_pd(RowValues(a.unit, i, lanes.by_rows), RowValues(b.unit, j, !lanes.by_rows));
  const __m512i integers = IntegerSums(sums.integers, lanes);
  const __mmask8 exact =
      _mm512_cmp_pd_mask(_mm512_mul_pd(magnitudes, _mm512_set1_pd(0x1p24)),
                         _mm512_mul_pd(low, _mm512_set1_pd(0x1p52)), _CMP_LE_OQ) &
      _mm512_cmple_epu64_mask(_mm512_abs_epi64(integers), _mm512_set1_epi64(int64_t{1} << 53));
  const VectorPair sum = TwoSum(_mm512_cvtepi64_pd(integers), LaneValues(sums.of_remainders, lanes));
  const double factor = static_cast<double>(2 * (a.remainder_count + b.remainder_count) + 3) * 1.01 * 0x1p-30;
  const __m512d rounding = _mm512_mul_pd(_mm512_abs_pd(sum.high), _mm512_set1_pd(0x1p-50));
  const __m512d bound =
      _mm512_maskz_fmadd_pd(static_cast<__mmask8>(~exact), magnitudes, _mm512_set1_pd(factor), rounding);
  StoreLanes(_mm512_mul_pd(_mm512_mask_mov_pd(sum.high, exact, RoundToOdd(sum)), unit), lanes, block->sums);
  StoreLanes(_mm512_mul_pd(bound, unit), lanes, block->bounds);
}

ASSAY_TARGET void Multiply(int64_t n, const DigitPanel& a, const DigitPanel& b, DigitBlock* block) {
  BlockSums sums;
  if (a.scales->has_low || b.scales->has_low) {
    MultiplyDigits(n, a, b, sums.integers);
  } else {
    MultiplyTwoDigits(n, a, b, sums.integers);
  }
  unsigned rows = a.scales->remainder_rows, columns = b.scales->remainder_rows;
  block->exact = (rows | columns) == 0;
  StoreSums(sums, a, b, block);
  if (block->exact) return;
  MultiplyRemainders(a, b, sums.of_remainders);
  for (; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows) * kDigitRows;
    for (int half : {0, 8}) AddRemainders(sums, *a.scales, *b.scales, {row + half, true}, block);
  }
  for (; columns != 0; columns &= columns - 1) {
    const int column = std::countr_zero(columns);
    for (int half : {0, 8 * kDigitRows})
      AddRemainders(sums, *a.scales, *b.scales, {half + column, false}, block);
  }
}

// Both ends of eight sums as f32.
ASSAY_INLINE __m256 RoundEight(const double* sums, const double* bounds, int end) {
  __m512d x = _mm512_load_pd(sums);
  if (bounds != nullptr && end == 0) x = _mm512_sub_pd(x, _mm512_load_pd(bounds));
  if (bounds != nullptr && end == 1) x = _mm512_add_pd(x, _mm512_load_pd(bounds));
  return _mm512_cvtpd_ps(x);
}
ASSAY_INLINE __m512 RoundSixteen(const double* sums, const double* bounds, int end) {
  const __m256 first = RoundEight(sums, bounds, end);
  const __m256 last = RoundEight(sums + 8, bounds == nullptr ? nullptr : bounds + 8, end);
  return _mm512_insertf32x8(_mm512_castps256_ps512(first), last, 1);
}

ASSAY_TARGET void RoundF32(const DigitBlock& block, int64_t rows, int64_t columns, float* out, int64_t stride,
                           uint16_t* open) {
  const auto wanted = static_cast<__mmask16>((1u << columns) - 1);
  for (int64_t i = 0; i < rows; ++i) {
    const double *const sums = block.sums + i * kDigitRows, *const bounds = block.bounds + i * kDigitRows;
    const __m512 low = RoundSixteen(sums, block.exact ? nullptr : bounds, 0);
    const __m512 high = block.exact ? low : RoundSixteen(sums, bounds, 1);
    open[i] = wanted & _mm512_cmpneq_epi32_mask(_mm512_castps_si512(low), _mm512_castps_si512(high));
    _mm512_mask_storeu_ps(out + i * stride, wanted, low);
  }
}

constexpr DigitKernels kKernels = {Pack, Multiply, RoundF32, Configure, Release};

}  // namespace

const DigitKernels* DigitKernelsOf(Isa isa) {
  return isa == Isa::kAvx512 && HasByteTiles() ? &kKernels : nullptr;
}

}  // namespace assay::native
