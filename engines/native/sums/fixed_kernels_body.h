// The bodies of FixedKernels (jit/each_isa.inc). No include guard.
#include "engines/native/sums/fixed_kernels.h"
#include "engines/native/sums/lanes_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

using F32 = float __attribute__((vector_size(4 * kLanes)));
using U32 = uint32_t __attribute__((vector_size(4 * kLanes)));

ASSAY_INLINE F32 LoadFloats(const float* p) {
  F32 v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
ASSAY_INLINE F32 LoadFloats(const float* p, int64_t n) {
  F32 v = {};
  std::memcpy(&v, p, static_cast<size_t>(n) * sizeof(float));
  return v;
}
ASSAY_INLINE I64 LoadInts(const int64_t* p) {
  I64 v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// The largest magnitude and the smallest but zero (less 1), as bits, a lane each.
struct Extent {
  U32 largest = {}, below_smallest = ~U32{};
};
ASSAY_INLINE void Widen(Extent& extent, F32 v) {
  const U32 size = (U32)v & 0x7fffffff, below = size - 1;
  extent.largest = extent.largest > size ? extent.largest : size;
  extent.below_smallest = extent.below_smallest < below ? extent.below_smallest : below;
}

ASSAY_TARGET void Range(int64_t n, const float* x, FloatRange* range) {
  Extent extent;
  U32 zeros = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 v = LoadFloats(x + i);
    Widen(extent, v);
    zeros |= (U32)((U32)v == 0x80000000);
  }
  if (i < n) {
    const F32 v = LoadFloats(x + i, n - i);
    Widen(extent, v);
    zeros |= (U32)((U32)v == 0x80000000);
  }
  for (int l = 0; l < kLanes; ++l) {
    if (extent.largest[l] > range->largest) range->largest = extent.largest[l];
    if (extent.below_smallest[l] < range->below_smallest) range->below_smallest = extent.below_smallest[l];
    range->negative_zero |= zeros[l] != 0;
  }
}

ASSAY_INLINE I64 Quantized(F32 v, double scale) {
  return __builtin_convertvector(__builtin_convertvector(v, F64) * scale, I64);
}

ASSAY_TARGET void Quantize(int64_t n, const float* x, double scale, int64_t* q) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I64 v = Quantized(LoadFloats(x + i), scale);
    std::memcpy(q + i, &v, sizeof(v));
  }
  for (; i < n; ++i) q[i] = static_cast<int64_t>(x[i] * scale);
}

ASSAY_INLINE I64 SplitVector(F32 x, double scale, double fine, I64& low) {
  const F64 v = __builtin_convertvector(x, F64) * scale;
  const I64 high = __builtin_convertvector(v, I64);
  low = __builtin_convertvector((v - __builtin_convertvector(high, F64)) * fine, I64);
  return high;
}

ASSAY_TARGET void Split(int64_t n, const float* x, double scale, int shift, int64_t* high, int64_t* low) {
  const double fine = static_cast<double>(int64_t{1} << shift);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    I64 l;
    const I64 h = SplitVector(LoadFloats(x + i), scale, fine, l);
    std::memcpy(high + i, &h, sizeof(h));
    std::memcpy(low + i, &l, sizeof(l));
  }
  for (; i < n; ++i) {
    const double v = x[i] * scale;
    high[i] = static_cast<int64_t>(v);
    low[i] = static_cast<int64_t>((v - static_cast<double>(high[i])) * fine);
  }
}

// An integer rounds once; what has its last bit at 2^-149 or above and is below
// 2^-126 has no more than 24 bits.
ASSAY_TARGET void Round(int64_t n, const int64_t* sums, float unit, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 v = __builtin_convertvector(LoadInts(sums + i), F32) * unit;
    std::memcpy(out + i, &v, sizeof(v));
  }
  for (; i < n; ++i) out[i] = static_cast<float>(sums[i]) * unit;
}

ASSAY_TARGET void Add(int64_t n, const int64_t* x, int64_t* sums) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I64 v = LoadInts(sums + i) + LoadInts(x + i);
    std::memcpy(sums + i, &v, sizeof(v));
  }
  for (; i < n; ++i)
    sums[i] = static_cast<int64_t>(static_cast<uint64_t>(sums[i]) + static_cast<uint64_t>(x[i]));
}

// Let m be the smallest magnitude of a term but zero, 2^e <= m < 2^(e + 1). Every term is a multiple of
// 2^(e - 23), so is every partial sum, and those up to 2^(e - 23) 2^53 = 2^(e + 30) are doubles. That holds
// where the number of terms times the largest is at most 2^29 m. Zeros of the sum have the sign of IEEE's
// additions, which is that of NUM-5.
template <int kVectors>
ASSAY_INLINE bool SumColumns(const float* row, const float* updates, int64_t stride, const int32_t* ids,
                             int64_t hits, float* out) {
  F64 sums[kVectors];
  Extent extents[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const F32 x = LoadFloats(row + v * kLanes);
    sums[v] = __builtin_convertvector(x, F64);
    extents[v] = Extent();
    Widen(extents[v], x);
  }
  for (int64_t i = 0; i < hits; ++i) {
    const float* const update = updates + ids[i] * stride;
    const float* const later = updates + ids[i + FixedKernels::kRowsAhead] * stride;
    for (int b = 0; b < kVectors * kLanes; b += 16) __builtin_prefetch(later + b);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const F32 x = LoadFloats(update + v * kLanes);
      sums[v] += __builtin_convertvector(x, F64);
      Widen(extents[v], x);
    }
  }
  I64 exact = ~I64{};
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const F64 most = __builtin_convertvector((F32)extents[v].largest, F64) * static_cast<double>(hits + 1);
    const F64 smallest = __builtin_convertvector((F32)(extents[v].below_smallest + 1), F64);
    exact &= (most <= smallest * 0x1p29) & (most < __builtin_inf());
    const F32 rounded = __builtin_convertvector(sums[v], F32);
    std::memcpy(out + v * kLanes, &rounded, sizeof(rounded));
  }
  bool all = true;
  for (int l = 0; l < kLanes; ++l) all &= exact[l] != 0;
  return all;
}

ASSAY_TARGET bool SumRows(int64_t n, const float* row, const float* updates, int64_t stride,
                          const int32_t* ids, int64_t hits, float* out) {
  int64_t j = 0;
  for (; j + 4 * kLanes <= n; j += 4 * kLanes) {
    if (!SumColumns<4>(row + j, updates + j, stride, ids, hits, out + j)) return false;
  }
  for (; j + kLanes <= n; j += kLanes) {
    if (!SumColumns<1>(row + j, updates + j, stride, ids, hits, out + j)) return false;
  }
  if (j == n) return true;
  if (n >= kLanes) {  // the last columns once more
    j = n - kLanes;
    return SumColumns<1>(row + j, updates + j, stride, ids, hits, out + j);
  }
  for (; j < n; ++j) {
    double sum = row[j];
    uint32_t largest = 0, below_smallest = ~uint32_t{0};
    for (int64_t i = -1; i < hits; ++i) {
      const float x = i < 0 ? row[j] : updates[ids[i] * stride + j];
      uint32_t size;
      std::memcpy(&size, &x, sizeof(size));
      size &= 0x7fffffff;
      largest = largest > size ? largest : size;
      below_smallest = below_smallest < size - 1 ? below_smallest : size - 1;
      if (i >= 0) sum += x;
    }
    ++below_smallest;
    float most, smallest;
    std::memcpy(&most, &largest, sizeof(most));
    std::memcpy(&smallest, &below_smallest, sizeof(smallest));
    if (!(largest < 0x7f800000 && most * static_cast<double>(hits + 1) <= smallest * 0x1p29)) return false;
    out[j] = static_cast<float>(sum);
  }
  return true;
}

ASSAY_TARGET int64_t Total(int64_t n, const float* x, double scale) {
  constexpr int kChains = 4;
  U64 sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) sums[c] += (U64)Quantized(LoadFloats(x + i + c * kLanes), scale);
  }
  const U64 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  uint64_t total = 0;
  for (int l = 0; l < kLanes; ++l) total += all[l];
  for (; i < n; ++i) total += static_cast<uint64_t>(static_cast<int64_t>(x[i] * scale));
  return static_cast<int64_t>(total);
}

// Shuffles by the numbers of all lanes, 0, 1, ..., kLanes - 1.
template <int kFirst, int... kLane>
struct Shuffles : Shuffles<kFirst - 1, kFirst - 1, kLane...> {};
template <int... kLane>
struct Shuffles<0, kLane...> {
  template <int kBy>
  ASSAY_INLINE U64 Up(U64 v) {
    return __builtin_shufflevector(U64{}, v, (kLane < kBy ? kLane : kLanes + kLane - kBy)...);
  }
  ASSAY_INLINE U64 Last(U64 v) {
    return __builtin_shufflevector(v, v, (kLane < kLanes ? kLanes - 1 : -1)...);
  }
};
// v moved kBy lanes up, zeros below.
template <int kBy>
ASSAY_INLINE U64 Up(U64 v) {
  return Shuffles<kLanes>::Up<kBy>(v);
}
ASSAY_INLINE U64 LastLane(U64 v) { return Shuffles<kLanes>::Last(v); }

ASSAY_INLINE U64 PrefixesOf(U64 q) {
  U64 sums = q + Up<1>(q);
  if (kLanes > 2) sums += Up<2>(sums);
  if (kLanes > 4) sums += Up<4>(sums);
  return sums;
}
// The sums up to each lane's term, or with kSuffixes `before` without the terms in front of it;
// `before` moves on.
template <bool kSuffixes>
ASSAY_INLINE U64 Advance(U64 q, U64& before) {
  const U64 sums = PrefixesOf(q), all = LastLane(sums);
  const U64 here = kSuffixes ? before - (sums - q) : before + sums;
  before = kSuffixes ? before - all : before + all;
  return here;
}
ASSAY_INLINE F32 LoadUpTo(const float* x, int64_t n) {
  return n >= kLanes ? LoadFloats(x) : LoadFloats(x, n);
}
ASSAY_INLINE void StoreUpTo(float* out, int64_t n, F32 v) {
  std::memcpy(out, &v, n >= kLanes ? sizeof(v) : static_cast<size_t>(n) * sizeof(float));
}

template <bool kSuffixes>
ASSAY_INLINE void Scan(int64_t n, const float* x, double scale, int64_t start, float unit, float* out) {
  U64 before = U64{} + static_cast<uint64_t>(start);
  for (int64_t i = 0; i < n; i += kLanes) {
    const U64 here = Advance<kSuffixes>((U64)Quantized(LoadUpTo(x + i, n - i), scale), before);
    StoreUpTo(out + i, n - i, __builtin_convertvector((I64)here, F32) * unit);
  }
}

ASSAY_TARGET void SplitTotals(int64_t n, const float* x, double scale, int shift, int64_t* high,
                              int64_t* low) {
  const double fine = static_cast<double>(int64_t{1} << shift);
  I64 highs = {}, lows = {}, l;
  for (int64_t i = 0; i < n; i += kLanes) {
    highs += SplitVector(LoadUpTo(x + i, n - i), scale, fine, l);
    lows += l;
  }
  *high = *low = 0;
  for (int lane = 0; lane < kLanes; ++lane) *high += highs[lane], *low += lows[lane];
}

// The units, and one bit more that says whether anything is behind them: an odd number of at least 26 bits
// rounds to 24 as what it stands for.
template <bool kSuffixes>
ASSAY_INLINE bool SplitScan(int64_t n, const float* x, double scale, int shift, int64_t high, int64_t low,
                            float half_unit, float* out) {
  const double fine = static_cast<double>(int64_t{1} << shift);
  const int64_t rest = (int64_t{1} << shift) - 1;
  U64 high_before = U64{} + static_cast<uint64_t>(high), low_before = U64{} + static_cast<uint64_t>(low);
  I64 open = {};
  for (int64_t i = 0; i < n; i += kLanes) {
    I64 l;
    const I64 h = SplitVector(LoadUpTo(x + i, n - i), scale, fine, l);
    const I64 highs = (I64)Advance<kSuffixes>((U64)h, high_before);
    const I64 lows = (I64)Advance<kSuffixes>((U64)l, low_before);
    const I64 behind = (lows & rest) != 0;
    const I64 halves = ((highs + (lows >> shift)) << 1) - behind;
    open |= behind & (halves < (1 << 26)) & (halves > -(1 << 26));
    StoreUpTo(out + i, n - i, __builtin_convertvector(halves, F32) * half_unit);
  }
  bool all = true;
  for (int lane = 0; lane < kLanes; ++lane) all &= open[lane] == 0;
  return all;
}
ASSAY_TARGET bool SplitPrefixes(int64_t n, const float* x, double scale, int shift, int64_t high, int64_t low,
                                float half_unit, float* out) {
  return SplitScan<false>(n, x, scale, shift, high, low, half_unit, out);
}
ASSAY_TARGET bool SplitSuffixes(int64_t n, const float* x, double scale, int shift, int64_t high, int64_t low,
                                float half_unit, float* out) {
  return SplitScan<true>(n, x, scale, shift, high, low, half_unit, out);
}
ASSAY_TARGET void Prefixes(int64_t n, const float* x, double scale, int64_t start, float unit, float* out) {
  Scan<false>(n, x, scale, start, unit, out);
}
ASSAY_TARGET void Suffixes(int64_t n, const float* x, double scale, int64_t all, float unit, float* out) {
  Scan<true>(n, x, scale, all, unit, out);
}

constexpr FixedKernels kKernels = {.range = Range,
                                   .quantize = Quantize,
                                   .split = Split,
                                   .round = Round,
                                   .add = Add,
                                   .sum_rows = SumRows,
                                   .split_totals = SplitTotals,
                                   .split_prefixes = SplitPrefixes,
                                   .split_suffixes = SplitSuffixes,
                                   .total = Total,
                                   .prefixes = Prefixes,
                                   .suffixes = Suffixes};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
