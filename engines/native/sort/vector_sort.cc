// The network is the bitonic sorter whose merges first compare position i with i ^ (2^k - 1) and then with i
// ^ 2^j, so that the smaller one always goes to the lower position.
#include "engines/native/sort/vector_sort.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "engines/native/sort/radix_sort.h"
#include "jit/isa.h"

namespace assay::native {
namespace {

#define ASSAY_TARGET ASSAY_AVX512

// Vectors of unsigned integers.
struct Lanes32 {
  using Item = uint32_t;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  ASSAY_INLINE __m512i Fill(Item x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  ASSAY_INLINE __m512i Load(const Item* p) { return _mm512_loadu_si512(p); }
  ASSAY_INLINE __m512i LoadSome(const Item* p, Mask some) {
    return _mm512_mask_loadu_epi32(Fill(~Item{0}), some, p);
  }
  ASSAY_INLINE void StoreSome(Item* p, Mask some, __m512i v) { _mm512_mask_storeu_epi32(p, some, v); }
  ASSAY_INLINE __m512i Min(__m512i a, __m512i b) { return _mm512_maskz_min_epu32(0xffff, a, b); }
  ASSAY_INLINE __m512i Max(__m512i a, __m512i b) { return _mm512_maskz_max_epu32(0xffff, a, b); }
  ASSAY_INLINE Mask Below(__m512i a, __m512i b) { return _mm512_cmplt_epu32_mask(a, b); }
  ASSAY_INLINE __m512i Compress(Mask some, __m512i v) { return _mm512_maskz_compress_epi32(some, v); }
  ASSAY_INLINE __m512i Blend(Mask second, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi32(second, a, b);
  }
  // Lane i is lane i ^ kWith.
  template <int kWith>
  ASSAY_INLINE __m512i Exchange(__m512i v) {
    const __m512i lanes = _mm512_setr_epi32(0 ^ kWith, 1 ^ kWith, 2 ^ kWith, 3 ^ kWith, 4 ^ kWith, 5 ^ kWith,
                                            6 ^ kWith, 7 ^ kWith, 8 ^ kWith, 9 ^ kWith, 10 ^ kWith,
                                            11 ^ kWith, 12 ^ kWith, 13 ^ kWith, 14 ^ kWith, 15 ^ kWith);
    return _mm512_maskz_permutexvar_epi32(0xffff, lanes, v);
  }
};
struct Lanes64 {
  using Item = uint64_t;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  ASSAY_INLINE __m512i Fill(Item x) { return _mm512_set1_epi64(static_cast<int64_t>(x)); }
  ASSAY_INLINE __m512i Load(const Item* p) { return _mm512_loadu_si512(p); }
  ASSAY_INLINE __m512i LoadSome(const Item* p, Mask some) {
    return _mm512_mask_loadu_epi64(Fill(~Item{0}), some, p);
  }
  ASSAY_INLINE void StoreSome(Item* p, Mask some, __m512i v) { _mm512_mask_storeu_epi64(p, some, v); }
  ASSAY_INLINE __m512i Min(__m512i a, __m512i b) { return _mm512_maskz_min_epu64(0xff, a, b); }
  ASSAY_INLINE __m512i Max(__m512i a, __m512i b) { return _mm512_maskz_max_epu64(0xff, a, b); }
  ASSAY_INLINE Mask Below(__m512i a, __m512i b) { return _mm512_cmplt_epu64_mask(a, b); }
  ASSAY_INLINE __m512i Compress(Mask some, __m512i v) { return _mm512_maskz_compress_epi64(some, v); }
  ASSAY_INLINE __m512i Blend(Mask second, __m512i a, __m512i b) {
    return _mm512_mask_blend_epi64(second, a, b);
  }
  template <int kWith>
  ASSAY_INLINE __m512i Exchange(__m512i v) {
    const __m512i lanes = _mm512_setr_epi64(0 ^ kWith, 1 ^ kWith, 2 ^ kWith, 3 ^ kWith, 4 ^ kWith, 5 ^ kWith,
                                            6 ^ kWith, 7 ^ kWith);
    return _mm512_maskz_permutexvar_epi64(0xff, lanes, v);
  }
};

constexpr int kMaxVectors = 8;  // sorted by the network

// Lanes whose bit kBit is set.
template <class V, int kBit>
constexpr typename V::Mask UpperLanes() {
  unsigned mask = 0;
  for (int i = 0; i < V::kLanes; ++i) mask |= (i & kBit ? 1U : 0U) << i;
  return static_cast<typename V::Mask>(mask);
}

// Every lane with lane i ^ kWith; the larger goes to the lane whose bit kBit is set.
template <class V, int kWith, int kBit>
ASSAY_INLINE void InVectors(__m512i* v, int vectors) {
#pragma GCC unroll 8
  for (int i = 0; i < vectors; ++i) {
    const __m512i other = V::template Exchange<kWith>(v[i]);
    v[i] = V::Blend(UpperLanes<V, kBit>(), V::Min(v[i], other), V::Max(v[i], other));
  }
}

// The last steps of a merge: distances below the number of lanes.
template <class V>
ASSAY_INLINE void FinishMerge(__m512i* v, int vectors) {
  if constexpr (V::kLanes == 16) InVectors<V, 8, 8>(v, vectors);
  InVectors<V, 4, 4>(v, vectors);
  InVectors<V, 2, 2>(v, vectors);
  InVectors<V, 1, 1>(v, vectors);
}

template <class V, int kVectors>
ASSAY_INLINE void SortVectors(__m512i* v) {
  InVectors<V, 1, 1>(v, kVectors);
  InVectors<V, 3, 2>(v, kVectors);
  InVectors<V, 1, 1>(v, kVectors);
  InVectors<V, 7, 4>(v, kVectors);
  InVectors<V, 2, 2>(v, kVectors);
  InVectors<V, 1, 1>(v, kVectors);
  if constexpr (V::kLanes == 16) {
    InVectors<V, 15, 8>(v, kVectors);
    InVectors<V, 4, 4>(v, kVectors);
    InVectors<V, 2, 2>(v, kVectors);
    InVectors<V, 1, 1>(v, kVectors);
  }
#pragma GCC unroll 8
  for (int size = 2; size <= kVectors; size *= 2) {
#pragma GCC unroll 8
    for (int pair = 0; pair < kVectors / 2; ++pair) {
      const int half = size / 2, base = pair / half * size, i = pair % half;
      __m512i &a = v[base + i], &b = v[base + size - 1 - i];
      const __m512i other = V::template Exchange<V::kLanes - 1>(b);
      b = V::template Exchange<V::kLanes - 1>(V::Max(a, other));
      a = V::Min(a, other);
    }
#pragma GCC unroll 8
    for (int distance = size / 4; distance > 0; distance /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        if (i & distance) continue;
        const __m512i low = V::Min(v[i], v[i + distance]);
        v[i + distance] = V::Max(v[i], v[i + distance]);
        v[i] = low;
      }
    }
    FinishMerge<V>(v, kVectors);
  }
}

template <class V, int kVectors>
ASSAY_AVX512 void SortShortOf(typename V::Item* items, int64_t n) {
  using Mask = typename V::Mask;
  __m512i v[kVectors];
  Mask masks[kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) {
    const int64_t left = n - i * V::kLanes;
    masks[i] = left >= V::kLanes ? static_cast<Mask>(~0U)
               : left > 0        ? static_cast<Mask>((1U << left) - 1)
                                 : Mask{0};
    v[i] = V::LoadSome(items + i * V::kLanes, masks[i]);
  }
  SortVectors<V, kVectors>(v);
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) V::StoreSome(items + i * V::kLanes, masks[i], v[i]);
}

template <class V>
ASSAY_AVX512 void SortShort(typename V::Item* items, int64_t n) {
  if (n <= V::kLanes) return SortShortOf<V, 1>(items, n);
  if (n <= 2 * V::kLanes) return SortShortOf<V, 2>(items, n);
  if (n <= 4 * V::kLanes) return SortShortOf<V, 4>(items, n);
  SortShortOf<V, 8>(items, n);
}

// Items below the bound go to the front; returns how many. Those behind lie in scratch meanwhile.
template <class V>
ASSAY_AVX512 int64_t Partition(typename V::Item* items, typename V::Item* scratch, int64_t n,
                               typename V::Item bound) {
  using Mask = typename V::Mask;
  const __m512i limit = V::Fill(bound);
  int64_t low = 0, high = 0, i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const __m512i v = V::Load(items + i);
    const Mask below = V::Below(v, limit);
    const int count = std::popcount(static_cast<unsigned>(below));
    // What a store writes behind its items is written again later, or has been read.
    _mm512_storeu_si512(items + low, V::Compress(below, v));
    _mm512_storeu_si512(scratch + high, V::Compress(static_cast<Mask>(~below), v));
    low += count;
    high += V::kLanes - count;
  }
  for (; i < n; ++i) {
    const typename V::Item item = items[i];
    if (item < bound) {
      items[low++] = item;
    } else {
      scratch[high++] = item;
    }
  }
  std::copy_n(scratch, high, items + low);
  return low;
}

template <class V>
ASSAY_AVX512 typename V::Item Median(const typename V::Item* items, int64_t n) {
  typename V::Item sample[2 * V::kLanes];
  const int64_t step = n / (2 * V::kLanes);
  for (int k = 0; k < 2 * V::kLanes; ++k) sample[k] = items[k * step];
  SortShort<V>(sample, 2 * V::kLanes);
  return sample[V::kLanes];
}

template <class V>
ASSAY_AVX512 void Quicksort(typename V::Item* items, typename V::Item* scratch, int64_t n, int depth,
                            absl::FunctionRef<void()> poll) {
  using Item = typename V::Item;
  while (n > kMaxVectors * V::kLanes) {
    if (n > kRadixBlock) poll();
    if (depth-- == 0) {
      const Item* const sorted = RadixSort(items, scratch, n, 8 * sizeof(Item), poll);
      if (sorted != items) std::copy_n(sorted, n, items);
      return;
    }
    const Item median = Median<V>(items, n);
    int64_t low = Partition<V>(items, scratch, n, median);
    if (low == 0) {  // the median is the least: what is equal to it is in its place
      if (median == static_cast<Item>(~Item{0})) return;
      low = Partition<V>(items, scratch, n, median + 1);
    } else {
      Quicksort<V>(items, scratch, low, depth, poll);
    }
    items += low;
    n -= low;
  }
  SortShort<V>(items, n);
}

// The partitions of a part that halves are as deep as its length has bits.
int MaxPartitions(int64_t n) { return 2 * std::bit_width(static_cast<uint64_t>(n)) + 8; }

}  // namespace

void VectorSort(uint32_t* items, uint32_t* scratch, int64_t n, absl::FunctionRef<void()> poll) {
  Quicksort<Lanes32>(items, scratch, n, MaxPartitions(n), poll);
}
void VectorSort(uint64_t* items, uint64_t* scratch, int64_t n, absl::FunctionRef<void()> poll) {
  Quicksort<Lanes64>(items, scratch, n, MaxPartitions(n), poll);
}

}  // namespace assay::native
