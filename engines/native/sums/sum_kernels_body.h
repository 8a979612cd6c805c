// The bodies of SumKernels (jit/each_isa.inc). No include guard.
//
// Sums are cut into independent chains so that additions overlap; the bounds count the longest chain.
#include "engines/native/sums/rounding_body.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

constexpr int kRows = ASSAY_BYTES == 64 ? 12 : ASSAY_BYTES == 32 ? 6 : 4;  // of a tile
constexpr int kColumns = 2 * kLanes;

#if ASSAY_BYTES == 64
ASSAY_INLINE F64 Lesser(F64 a, F64 b) { return (F64)_mm512_maskz_min_pd(0xff, (__m512d)a, (__m512d)b); }
ASSAY_INLINE F64 Greater(F64 a, F64 b) { return (F64)_mm512_maskz_max_pd(0xff, (__m512d)a, (__m512d)b); }
#elif ASSAY_BYTES == 32
ASSAY_INLINE F64 Lesser(F64 a, F64 b) { return (F64)_mm256_min_pd((__m256d)a, (__m256d)b); }
ASSAY_INLINE F64 Greater(F64 a, F64 b) { return (F64)_mm256_max_pd((__m256d)a, (__m256d)b); }
#else
ASSAY_INLINE F64 Lesser(F64 a, F64 b) { return (F64)_mm_min_pd((__m128d)a, (__m128d)b); }
ASSAY_INLINE F64 Greater(F64 a, F64 b) { return (F64)_mm_max_pd((__m128d)a, (__m128d)b); }
#endif

ASSAY_TARGET void Tile(int64_t n, const double* a, const double* b, double* c, int64_t c_stride) {
  F64 acc[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = F64{};
  for (int64_t k = 0; k < n; ++k, a += kRows, b += kColumns) {
    const F64 b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const F64 x = Fill(a[r]);
      acc[r][0] = Fma(x, b0, acc[r][0]);
      acc[r][1] = Fma(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    Store(c + r * c_stride, Load(c + r * c_stride) + acc[r][0]);
    Store(c + r * c_stride + kLanes, Load(c + r * c_stride + kLanes) + acc[r][1]);
  }
}

// kPeriod vectors hold a whole number of rows of the panel, so that a lane always belongs to the same slot.
template <int kWidth, int kPeriod>
ASSAY_TARGET void PanelStatistics(int64_t n, const double* panel, RowStatistics* result) {
  constexpr int kSpan = kPeriod * kLanes;
  F64 squares[kPeriod], smallest[kPeriod], largest[kPeriod];
  U64 bits[kPeriod];
#pragma GCC unroll 4
  for (int v = 0; v < kPeriod; ++v) {
    squares[v] = largest[v] = F64{};
    smallest[v] = Fill(__builtin_inf());
    bits[v] = U64{};
  }
  const int64_t count = n * kWidth;
  int64_t i = 0;
  for (; i + kSpan <= count; i += kSpan) {
#pragma GCC unroll 4
    for (int v = 0; v < kPeriod; ++v) {
      const F64 x = Load(panel + i + v * kLanes);
      const F64 magnitude = Magnitude(x);
      squares[v] = Fma(x, x, squares[v]);
      bits[v] |= (U64)x;
      largest[v] = Greater(magnitude, largest[v]);
      smallest[v] = Lesser(magnitude > 0 ? magnitude : Fill(__builtin_inf()), smallest[v]);
    }
  }
  for (int r = 0; r < kWidth; ++r) {
    result->squares[r] = result->largest[r] = 0;
    result->smallest[r] = __builtin_inf();
    result->bits[r] = 0;
  }
  const auto add = [result](int r, double square, double small, double large, uint64_t pattern) {
    result->squares[r] += square;
    result->smallest[r] = small < result->smallest[r] ? small : result->smallest[r];
    result->largest[r] = large > result->largest[r] ? large : result->largest[r];
    result->bits[r] |= pattern;
  };
  for (int v = 0; v < kPeriod; ++v) {
    for (int l = 0; l < kLanes; ++l)
      add((v * kLanes + l) % kWidth, squares[v][l], smallest[v][l], largest[v][l], bits[v][l]);
  }
  for (; i < count; ++i) {
    const double x = panel[i], magnitude = __builtin_fabs(x);
    uint64_t pattern;
    std::memcpy(&pattern, &x, sizeof(pattern));
    add(static_cast<int>(i % kWidth), x * x, x == 0 ? __builtin_inf() : magnitude, magnitude, pattern);
  }
}

constexpr int Period(int width) { return width % kLanes == 0 ? width / kLanes : 3; }
static_assert(Period(kRows) * kLanes % kRows == 0);

ASSAY_TARGET void Statistics(int64_t n, const double* panel, int width, RowStatistics* result) {
  if (width == kRows) {
    PanelStatistics<kRows, Period(kRows)>(n, panel, result);
  } else {
    PanelStatistics<kColumns, Period(kColumns)>(n, panel, result);
  }
}

template <bool kPairs>
ASSAY_INLINE void AddPair(F64 x, F64 y, F64& s, F64& e) {
  const F64 p = x * y;
  F64 error = TwoSum(s, p);
  if (kPairs) error += ProductError(x, y, p);
  e += error;
}

template <bool kPairs>
ASSAY_INLINE void PairProductsBody(int64_t n, const double* a, int64_t a_stride, const double* b,
                                   int64_t b_stride, double* sum, double* error) {
  F64 s[4] = {}, e[4] = {};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4, a += 4 * a_stride, b += 4 * b_stride) {
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) AddPair<kPairs>(Fill(a[c * a_stride]), Load(b + c * b_stride), s[c], e[c]);
  }
  for (; k < n; ++k, a += a_stride, b += b_stride) AddPair<kPairs>(Fill(*a), Load(b), s[0], e[0]);
#pragma GCC unroll 4
  for (int c = 1; c < 4; ++c) {
    e[0] += TwoSum(s[0], s[c]);
    e[0] += e[c];
  }
  Store(sum, s[0]);
  Store(error, e[0]);
}
ASSAY_TARGET void PairProducts(int64_t n, const double* a, int64_t a_stride, const double* b,
                               int64_t b_stride, bool two_products, double* sum, double* error) {
  if (two_products) {
    PairProductsBody<true>(n, a, a_stride, b, b_stride, sum, error);
  } else {
    PairProductsBody<false>(n, a, a_stride, b, b_stride, sum, error);
  }
}

ASSAY_TARGET int64_t Products(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                              bool two_products, double* terms) {
  for (int64_t k = 0; k < n; ++k) {
    const F64 x = Fill(a[k * a_stride]), y = Load(b + k * b_stride);
    const F64 p = x * y;
    Store(terms + k * kLanes, p);
    if (two_products) Store(terms + (n + k) * kLanes, ProductError(x, y, p));
  }
  return two_products ? 2 * n : n;
}

// Error-free extraction (after Rump, Ogita, Oishi: "Accurate floating-point summation") into running totals
// (after Demmel, Nguyen: "Fast reproducible floating-point summation"): a total starts at 1.5 sigma for a
// power of two sigma >= 2 (n + 2) * max |term|, so that it stays between sigma and 2 sigma, where doubles are
// 2^-52 sigma apart. Then q = (total + t) - total and t - q are exact and |t - q| <= 2^-53 * sigma. So the
// next sigma is 2^-53 * sigma * grow with grow >= 2 (n + 2): kSlicesAtOnce of them are taken from a term
// while it is in registers.
constexpr int kSlicesAtOnce = 4;

ASSAY_INLINE void Extract(double* term, F64* totals, F64& rest) {
  F64 t = Load(term);
#pragma GCC unroll 4
  for (int s = 0; s < kSlicesAtOnce; ++s) {
    const F64 total = totals[s] + t;
    t = t - (total - totals[s]);
    totals[s] = total;
  }
  Store(term, t);
  rest = Greater(Magnitude(t), rest);
}

ASSAY_TARGET int Slices(int64_t n, double* terms, double* slices) {
  constexpr int kChains = 2;
  F64 largest = {};
  for (int64_t k = 0; k < n; ++k) largest = Greater(Magnitude(Load(terms + k * kLanes)), largest);
  // largest < 2^(e + 1) for its exponent e, so sigma = 2^(e + 1) * grow suffices.
  double grow = 8;
  while (grow < 2 * static_cast<double>(n + 2)) grow *= 2;
  for (int level = 0; level < kMaxSlices; level += kSlicesAtOnce) {
    bool any = false;
    for (int l = 0; l < kLanes; ++l) any |= largest[l] != 0;
    if (!any) return level;
    F64 sigma[kSlicesAtOnce];
    sigma[0] = (F64)((U64)largest & 0x7ff0000000000000) * (2 * grow);
    // Subnormal terms: as if largest were 2^-1022, and then, of at most 2^-1034 each, all of them at once:
    // multiples of 2^-1074 with a sum below 2^-1021.
    const F64 least = Fill(0x1p-1022 * grow);
    sigma[0] = sigma[0] == 0 && largest > 0x1p-1034 ? least : sigma[0];
#pragma GCC unroll 4
    for (int s = 1; s < kSlicesAtOnce; ++s) {
      sigma[s] = Greater(sigma[s - 1] * 0x1p-53 * grow, least);
    }
    F64 totals[kChains][kSlicesAtOnce], rest[kChains] = {};
#pragma GCC unroll 4
    for (int s = 0; s < kSlicesAtOnce; ++s) {
      for (int c = 0; c < kChains; ++c) totals[c][s] = sigma[s] * 1.5;
    }
    int64_t k = 0;
    for (; k + kChains <= n; k += kChains) {
#pragma GCC unroll 2
      for (int c = 0; c < kChains; ++c) Extract(terms + (k + c) * kLanes, totals[c], rest[c]);
    }
    for (; k < n; ++k) Extract(terms + k * kLanes, totals[0], rest[0]);
    for (int s = 0; s < kSlicesAtOnce; ++s) {
      const F64 start = sigma[s] * 1.5;
      Store(slices + (level + s) * kLanes, (totals[0][s] - start) + (totals[1][s] - start));
    }
    largest = Greater(rest[0], rest[1]);
  }
  return -1;
}

ASSAY_INLINE bool AnyLane(I64 any) {
  bool result = false;
  for (int l = 0; l < kLanes; ++l) result |= any[l] != 0;
  return result;
}

ASSAY_TARGET bool RoundRow(int64_t n, const double* sums, const RowBounds& bounds,
                           const NarrowRounding& rounding, double* out, int64_t* failed) {
  const F64 zero = {};
  I64 any = {};
  for (int64_t j = 0; j < n; j += kLanes) {
    const F64 s = Load(sums + j);
    const F64 norm = Load(bounds.norms + j) * bounds.row_norm;
    const F64 ratio = Load(bounds.ratios + j) * bounds.row_ratio;
    const F64 bound = ratio < 0x1p52 ? zero : norm * bounds.factor;
    const I64 bad = RoundEnds(s, bound, rounding, out + j);
    std::memcpy(failed + j, &bad, sizeof(bad));
    any |= bad;
  }
  return AnyLane(any);
}

template <class T>
ASSAY_INLINE void SumBody(int64_t n, const T* x, double* sum, double* magnitude) {
  constexpr int kChains = 4;
  F64 s[kChains] = {}, m[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      const F64 v = Widen(x + i + c * kLanes);
      s[c] += v;
      m[c] += Magnitude(v);
    }
  }
  T rest[kChains * kLanes] = {};
  for (int64_t j = 0; i + j < n; ++j) rest[j] = x[i + j];
#pragma GCC unroll 4
  for (int c = 0; c < kChains; ++c) {
    const F64 v = Widen(rest + c * kLanes);
    s[c] += v;
    m[c] += Magnitude(v);
  }
  const F64 total = (s[0] + s[1]) + (s[2] + s[3]), all = (m[0] + m[1]) + (m[2] + m[3]);
  *sum = *magnitude = 0;
  for (int l = 0; l < kLanes; ++l) {
    *sum += total[l];
    *magnitude += all[l];
  }
}
ASSAY_TARGET void Sum(int64_t n, const double* x, double* sum, double* magnitude) {
  SumBody(n, x, sum, magnitude);
}
ASSAY_TARGET void SumF32(int64_t n, const float* x, double* sum, double* magnitude) {
  SumBody(n, x, sum, magnitude);
}
ASSAY_TARGET void SumBf16(int64_t n, const uint16_t* x, double* sum, double* magnitude) {
  SumBody(n, x, sum, magnitude);
}

// Zeros do not count; NaN fails every comparison, and the magnitude keeps it.
struct FewTerms {
  F64 sum{}, magnitude{}, smallest = F64{} + __builtin_inf();
};
ASSAY_INLINE void AddTo(FewTerms& terms, F64 x) {
  const F64 size = Magnitude(x);
  terms.sum += x;
  terms.magnitude += size;
  terms.smallest = ((size > 0) & (size < terms.smallest)) ? size : terms.smallest;
}

ASSAY_TARGET void FewF32(int64_t n, const float* x, double* sum, double* magnitude, double* smallest) {
  FewTerms terms[2];
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    AddTo(terms[0], Widen(x + i));
    AddTo(terms[1], Widen(x + i + kLanes));
  }
  for (; i < n; i += kLanes) {
    float rest[kLanes] = {};
    std::memcpy(rest, x + i, sizeof(float) * static_cast<size_t>(n - i < kLanes ? n - i : kLanes));
    AddTo(terms[0], Widen(rest));
  }
  const F64 sums = terms[0].sum + terms[1].sum, magnitudes = terms[0].magnitude + terms[1].magnitude;
  const F64 least = Lesser(terms[0].smallest, terms[1].smallest);
  *sum = sums[0], *magnitude = magnitudes[0], *smallest = least[0];
  for (int l = 1; l < kLanes; ++l) {
    *sum += sums[l];
    *magnitude += magnitudes[l];
    *smallest = least[l] < *smallest ? least[l] : *smallest;
  }
}

ASSAY_TARGET void FewRowsF32(std::span<const int64_t> rows, int64_t columns, const float* x, double* sums,
                             double* magnitudes, double* smallest) {
  for (int64_t j = 0; j < columns; j += kLanes) {
    FewTerms terms;
    if (j + kLanes <= columns) {
      for (int64_t row : rows) AddTo(terms, Widen(x + row + j));
    } else {
      float rest[kLanes] = {};
      for (int64_t row : rows) {
        for (int64_t l = 0; j + l < columns; ++l) rest[l] = x[row + j + l];
        AddTo(terms, Widen(rest));
      }
    }
    Store(sums + j, terms.sum);
    Store(magnitudes + j, terms.magnitude);
    Store(smallest + j, terms.smallest);
  }
}

ASSAY_TARGET void PairSum(int64_t n, const double* x, double* sum, double* error, double* magnitude) {
  constexpr int kChains = 4;
  F64 s[kChains] = {}, e[kChains] = {}, m = {};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      const F64 v = Load(x + i + c * kLanes);
      e[c] += TwoSum(s[c], v);
      m += Magnitude(v);
    }
  }
  for (; i < n; i += kLanes) {
    double rest[kLanes] = {};
    for (int64_t j = 0; j < kLanes && i + j < n; ++j) rest[j] = x[i + j];
    const F64 v = Load(rest);
    e[0] += TwoSum(s[0], v);
    m += Magnitude(v);
  }
#pragma GCC unroll 4
  for (int c = 1; c < kChains; ++c) {
    e[0] += TwoSum(s[0], s[c]);
    e[0] += e[c];
  }
  *sum = s[0][0], *error = e[0][0], *magnitude = m[0];
  for (int l = 1; l < kLanes; ++l) {
    const double t = *sum + s[0][l], z = t - *sum;
    *error += ((*sum - (t - z)) + (s[0][l] - z)) + e[0][l];
    *sum = t;
    *magnitude += m[l];
  }
}

template <class T>
ASSAY_INLINE void AddRowsBody(int64_t n, const T* x, std::span<const int64_t> rows, double* sums,
                              double* magnitudes) {
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    F64 s = Load(sums + j), m = Load(magnitudes + j);
    for (int64_t row : rows) {
      const F64 v = Widen(x + row + j);
      s += v;
      m += Magnitude(v);
    }
    Store(sums + j, s);
    Store(magnitudes + j, m);
  }
  for (; j < n; ++j) {
    for (int64_t row : rows) {
      const T some[kLanes] = {x[row + j]};
      const double v = Widen(some)[0];
      sums[j] += v;
      magnitudes[j] += __builtin_fabs(v);
    }
  }
}
ASSAY_TARGET void AddRows(int64_t n, const double* x, std::span<const int64_t> rows, double* sums,
                          double* magnitudes) {
  AddRowsBody(n, x, rows, sums, magnitudes);
}
ASSAY_TARGET void AddRowsF32(int64_t n, const float* x, std::span<const int64_t> rows, double* sums,
                             double* magnitudes) {
  AddRowsBody(n, x, rows, sums, magnitudes);
}
ASSAY_TARGET void AddRowsBf16(int64_t n, const uint16_t* x, std::span<const int64_t> rows, double* sums,
                              double* magnitudes) {
  AddRowsBody(n, x, rows, sums, magnitudes);
}

template <class T>
ASSAY_INLINE void WidenBody(int64_t n, const T* x, double* dst) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(dst + i, Widen(x + i));
  for (; i < n; ++i) {
    const T some[kLanes] = {x[i]};
    dst[i] = Widen(some)[0];
  }
}
ASSAY_TARGET void WidenF32(int64_t n, const float* x, double* dst) { WidenBody(n, x, dst); }
ASSAY_TARGET void WidenBf16(int64_t n, const uint16_t* x, double* dst) { WidenBody(n, x, dst); }
ASSAY_TARGET void WidenS8(int64_t n, const int8_t* x, int64_t* dst) {
  using S8 = int8_t __attribute__((vector_size(kLanes)));
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    S8 v;
    std::memcpy(&v, x + i, sizeof(v));
    const I64 wide = __builtin_convertvector(v, I64);
    std::memcpy(dst + i, &wide, sizeof(wide));
  }
  for (; i < n; ++i) dst[i] = x[i];
}

ASSAY_TARGET void AddRowPairs(int64_t n, const double* x, double* sums, double* errors, double* magnitudes) {
  for (int64_t j = 0; j < n; j += kLanes) {
    double terms[kLanes] = {}, s[kLanes] = {}, e[kLanes] = {}, m[kLanes] = {};
    const int64_t count = n - j < kLanes ? n - j : kLanes;
    if (count == kLanes) {
      F64 sum = Load(sums + j);
      const F64 v = Load(x + j);
      Store(errors + j, Load(errors + j) + TwoSum(sum, v));
      Store(sums + j, sum);
      Store(magnitudes + j, Load(magnitudes + j) + Magnitude(v));
      continue;
    }
    std::memcpy(terms, x + j, sizeof(double) * count);
    std::memcpy(s, sums + j, sizeof(double) * count);
    std::memcpy(e, errors + j, sizeof(double) * count);
    std::memcpy(m, magnitudes + j, sizeof(double) * count);
    F64 sum = Load(s);
    const F64 v = Load(terms);
    Store(e, Load(e) + TwoSum(sum, v));
    Store(s, sum);
    Store(m, Load(m) + Magnitude(v));
    std::memcpy(sums + j, s, sizeof(double) * count);
    std::memcpy(errors + j, e, sizeof(double) * count);
    std::memcpy(magnitudes + j, m, sizeof(double) * count);
  }
}

template <class T>
ASSAY_INLINE void AbsorbBody(int64_t n, const T* x, double* sums, double* errors, double* doubts) {
  for (int64_t j = 0; j < n; j += kLanes) {
    F64 v;
    if (n - j >= kLanes) {
      v = Widen(x + j);
    } else {
      T rest[kLanes] = {};
      for (int64_t l = 0; j + l < n; ++l) rest[l] = x[j + l];
      v = Widen(rest);
    }
    F64 sum = Load(sums + j);
    const F64 error = TwoSum(sum, v);
    Store(sums + j, sum);
    Store(errors + j, Load(errors + j) + error);
    Store(doubts + j, Load(doubts + j) + Magnitude(error));
  }
}
ASSAY_TARGET void Absorb(int64_t n, const double* x, double* sums, double* errors, double* doubts) {
  AbsorbBody(n, x, sums, errors, doubts);
}
ASSAY_TARGET void AbsorbF32(int64_t n, const float* x, double* sums, double* errors, double* doubts) {
  AbsorbBody(n, x, sums, errors, doubts);
}

// With d >= the error's magnitude up to its own rounding, and b = d (1 + 2^-20) + 2^-52 |s|: s -+ b is
// rounded by at most 2^-53 (|s| + b), so that it stays beyond s -+ d.
ASSAY_TARGET void BoundsOfDoubts(int64_t n, const double* sums, const double* doubts, double* bounds) {
  const F64 zero = {};
  for (int64_t j = 0; j < n; j += kLanes) {
    const F64 d = Load(doubts + j);
    const F64 bound = d * (1 + 0x1p-20) + Magnitude(Load(sums + j)) * 0x1p-52;
    Store(bounds + j, d == 0 ? zero : bound);
  }
}

constexpr SumKernels kKernels = {.lanes = kLanes,
                                 .tile_rows = kRows,
                                 .tile_columns = kColumns,
                                 .tile = Tile,
                                 .statistics = Statistics,
                                 .pair_products = PairProducts,
                                 .products = Products,
                                 .slices = Slices,
                                 .round_row = RoundRow,
                                 .sum = Sum,
                                 .sum_f32 = SumF32,
                                 .sum_bf16 = SumBf16,
                                 .few_f32 = FewF32,
                                 .few_rows_f32 = FewRowsF32,
                                 .pair_sum = PairSum,
                                 .add_rows = AddRows,
                                 .add_rows_f32 = AddRowsF32,
                                 .add_rows_bf16 = AddRowsBf16,
                                 .add_row_pairs = AddRowPairs,
                                 .absorb = Absorb,
                                 .absorb_f32 = AbsorbF32,
                                 .bounds_of_doubts = BoundsOfDoubts,
                                 .widen_f32 = WidenF32,
                                 .widen_bf16 = WidenBf16,
                                 .widen_s8 = WidenS8};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
