// Stable sorts by unsigned keys, a byte at a time: tiles count their digits, the counts are added up, tiles
// move their elements. What a warp finds before an element with the same digit is counted by votes,
// so that no order is lost.
#include "gpu/kernels/block_scan.cuh"
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/sort_arguments.h"

namespace assay::gpu {

KERNEL(sort_start, SortStartArguments, kSortThreads) {
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    int64_t line = i;
    const int64_t place = SplitIndex(&line, a.length);
    reinterpret_cast<uint32_t*>(a.order)[i] =
        static_cast<uint32_t>(line * a.length + (a.reversed != 0 ? a.length - 1 - place : place));
  }
}

template <typename Bits, typename Word>
__device__ __forceinline__ void MakeKeys(const SortKeyArguments& a) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto complement = static_cast<Bits>(a.complement);
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    const int64_t position = reinterpret_cast<const uint32_t*>(a.order)[i];
    const Bits bits = reinterpret_cast<const Bits*>(a.from)[OffsetOf(a.positions, position)];
    Bits key;
    if constexpr (sizeof(Bits) == 1) {
      key = reinterpret_cast<const uint8_t*>(a.table)[bits];
    } else if (a.is_float != 0) {
      const auto magnitude = static_cast<Bits>(bits & ~kSign);
      const bool is_nan = magnitude > static_cast<Bits>(a.infinity);
      key = static_cast<Bits>(((bits & kSign) != 0 ? ~bits : bits | kSign) ^ complement);
      if (a.has_zero_key != 0 && magnitude == 0) key = static_cast<Bits>(a.zero_key);
      if (a.has_nan_key != 0 && is_nan) key = static_cast<Bits>(a.nan_key);
      if (a.unordered != 0 && is_nan) AtomicOr(reinterpret_cast<uint32_t*>(a.unordered), 1);
    } else {
      key = static_cast<Bits>(bits ^ static_cast<Bits>(a.sign) ^ complement);
    }
    reinterpret_cast<Word*>(a.keys)[i] = key;
  }
}
KERNEL(sort_keys_1, SortKeyArguments, kSortThreads) { MakeKeys<uint8_t, uint32_t>(a); }
KERNEL(sort_keys_2, SortKeyArguments, kSortThreads) { MakeKeys<uint16_t, uint32_t>(a); }
KERNEL(sort_keys_4, SortKeyArguments, kSortThreads) { MakeKeys<uint32_t, uint32_t>(a); }
KERNEL(sort_keys_8, SortKeyArguments, kSortThreads) { MakeKeys<uint64_t, uint64_t>(a); }

template <typename Word>
__device__ __forceinline__ uint32_t DigitAt(const SortPassArguments& a, int64_t i) {
  if (a.keys_from != 0) {
    return static_cast<uint32_t>(reinterpret_cast<const Word*>(a.keys_from)[i] >> a.shift) &
           (kSortDigits - 1);
  }
  int64_t line = reinterpret_cast<const uint32_t*>(a.order_from)[i];
  SplitIndex(&line, a.length);
  return static_cast<uint32_t>(line >> a.shift) & (kSortDigits - 1);
}

template <typename Word>
__device__ __forceinline__ void CountDigits(const SortPassArguments& a) {
  auto* const counts = reinterpret_cast<uint32_t*>(SharedMemory());
  counts[threadIdx.x] = 0;
  SyncThreads();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kSortTile + threadIdx.x;
#pragma unroll
  for (int r = 0; r < kSortItems; ++r) {
    const int64_t i = first + r * kSortThreads;
    if (i < a.count) AtomicAdd(counts + DigitAt<Word>(a, i), 1);
  }
  SyncThreads();
  reinterpret_cast<uint32_t*>(a.counts)[threadIdx.x * a.blocks + blockIdx.x] = counts[threadIdx.x];
}
KERNEL(sort_count_4, SortPassArguments, kSortThreads) { CountDigits<uint32_t>(a); }
KERNEL(sort_count_8, SortPassArguments, kSortThreads) { CountDigits<uint64_t>(a); }

// Each count of a digit becomes the sum of those of the tiles before. A block has one digit, or,
// where it is the only one, all.
KERNEL(sort_scan, SortPassArguments, kSortThreads) {
  if (gridDim.x == 1) {
    uint32_t* const own = reinterpret_cast<uint32_t*>(a.counts) + threadIdx.x * a.blocks;
    uint32_t sum = 0;
    for (int64_t i = 0; i < a.blocks; ++i) {
      const uint32_t count = own[i];
      own[i] = sum;
      sum += count;
    }
    reinterpret_cast<uint32_t*>(a.totals)[threadIdx.x] = sum;
    return;
  }
  auto* const shared = reinterpret_cast<uint32_t*>(SharedMemory());
  uint32_t* const counts = reinterpret_cast<uint32_t*>(a.counts) + blockIdx.x * a.blocks;
  uint32_t before = 0;
  for (int64_t first = 0; first < a.blocks; first += kSortThreads) {
    const int64_t i = first + threadIdx.x;
    const uint32_t count = i < a.blocks ? counts[i] : 0;
    uint32_t total;
    const uint32_t sum = InclusiveSum(count, shared, &total);
    if (i < a.blocks) counts[i] = before + sum - count;
    before += total;
  }
  if (threadIdx.x == 0) reinterpret_cast<uint32_t*>(a.totals)[blockIdx.x] = before;
}

// The lanes that have this one's digit, where `valid`.
__device__ __forceinline__ uint32_t LanesOfDigit(bool valid, uint32_t digit) {
  uint32_t lanes = Ballot(valid);
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const uint32_t set = Ballot((digit >> bit & 1) != 0);
    lanes &= (digit >> bit & 1) != 0 ? set : ~set;
  }
  return lanes;
}

template <typename Word>
__device__ __forceinline__ void MoveByDigits(const SortPassArguments& a) {
  constexpr int kWarps = kSortThreads / 32;
  static_assert(kSortThreads == kSortDigits);
  auto* const counts =
      reinterpret_cast<uint32_t*>(SharedMemory());  // of each warp, then where its elements go
  uint32_t* const scratch = counts + kWarps * kSortDigits;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int w = 0; w < kWarps; ++w) counts[w * kSortDigits + threadIdx.x] = 0;
  // Thread d knows where the elements of digit d of this tile begin.
  const uint32_t total = reinterpret_cast<const uint32_t*>(a.totals)[threadIdx.x];
  uint32_t all;
  uint32_t start = InclusiveSum(total, scratch, &all) - total +
                   reinterpret_cast<const uint32_t*>(a.counts)[threadIdx.x * a.blocks + blockIdx.x];
  SyncThreads();
  uint32_t* const own = counts + warp * kSortDigits;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kSortTile + warp * (32 * kSortItems) + lane;
  uint32_t digits[kSortItems] = {}, places[kSortItems] = {};
#pragma unroll
  for (int r = 0; r < kSortItems; ++r) {
    const int64_t i = first + r * 32;
    if (i - lane >= a.count) break;  // all of the warp's
    const bool valid = i < a.count;
    digits[r] = valid ? DigitAt<Word>(a, i) : 0;
    const uint32_t lanes = LanesOfDigit(valid, digits[r]);
    const uint32_t below = lanes & ((uint32_t{1} << lane) - 1);
    places[r] = valid ? own[digits[r]] + static_cast<uint32_t>(PopulationCount(below)) : 0;
    SyncWarp();
    if (valid && below == 0) own[digits[r]] += static_cast<uint32_t>(PopulationCount(lanes));
    SyncWarp();
  }
  SyncThreads();
  for (int w = 0; w < kWarps; ++w) {
    const uint32_t count = counts[w * kSortDigits + threadIdx.x];
    counts[w * kSortDigits + threadIdx.x] = start;
    start += count;
  }
  SyncThreads();
#pragma unroll
  for (int r = 0; r < kSortItems; ++r) {
    const int64_t i = first + r * 32;
    if (i >= a.count) break;
    const uint32_t to = own[digits[r]] + places[r];
    reinterpret_cast<uint32_t*>(a.order_to)[to] = reinterpret_cast<const uint32_t*>(a.order_from)[i];
    if (a.keys_from != 0)
      reinterpret_cast<Word*>(a.keys_to)[to] = reinterpret_cast<const Word*>(a.keys_from)[i];
  }
}
KERNEL(sort_scatter_4, SortPassArguments, kSortThreads) { MoveByDigits<uint32_t>(a); }
KERNEL(sort_scatter_8, SortPassArguments, kSortThreads) { MoveByDigits<uint64_t>(a); }

struct alignas(16) SortedElement16 {
  uint64_t low, high;
};

template <typename Element>
__device__ __forceinline__ void Take(const SortTakeArguments& a) {
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    int64_t line = i;
    const int64_t place = SplitIndex(&line, a.taken);
    const int64_t position = reinterpret_cast<const uint32_t*>(a.order)[line * a.length + place];
    reinterpret_cast<Element*>(a.to)[OffsetOf(a.places, i)] =
        reinterpret_cast<const Element*>(a.from)[OffsetOf(a.positions, position)];
  }
}
KERNEL(sort_take_1, SortTakeArguments, kSortThreads) { Take<uint8_t>(a); }
KERNEL(sort_take_2, SortTakeArguments, kSortThreads) { Take<uint16_t>(a); }
KERNEL(sort_take_4, SortTakeArguments, kSortThreads) { Take<uint32_t>(a); }
KERNEL(sort_take_8, SortTakeArguments, kSortThreads) { Take<uint64_t>(a); }
KERNEL(sort_take_16, SortTakeArguments, kSortThreads) { Take<SortedElement16>(a); }

KERNEL(sort_places, SortTakeArguments, kSortThreads) {
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    int64_t line = i;
    const int64_t place = SplitIndex(&line, a.taken);
    const int64_t position = reinterpret_cast<const uint32_t*>(a.order)[line * a.length + place];
    reinterpret_cast<int32_t*>(a.to)[OffsetOf(a.places, i)] =
        static_cast<int32_t>(position - line * a.length);
  }
}

}  // namespace assay::gpu
