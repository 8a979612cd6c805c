// Stable sorts by unsigned keys, a byte at a time, one launch a pass: a tile counts its digits, looks back
// for those of the tiles before, and moves its elements. What a warp finds before an element with the same
// digit is counted by votes, so that no order is lost.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/sort_arguments.h"
#include "gpu/kernels/sort_digits.cuh"

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
  const DigitCounts counts(a.counts);
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    const int64_t position = a.order == 0 ? i : reinterpret_cast<const uint32_t*>(a.order)[i];
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
    counts.Add(static_cast<Word>(key));
  }
  counts.Finish();
}
KERNEL(sort_keys_1, SortKeyArguments, kSortThreads) { MakeKeys<uint8_t, uint32_t>(a); }
KERNEL(sort_keys_2, SortKeyArguments, kSortThreads) { MakeKeys<uint16_t, uint32_t>(a); }
KERNEL(sort_keys_4, SortKeyArguments, kSortThreads) { MakeKeys<uint32_t, uint32_t>(a); }
KERNEL(sort_keys_8, SortKeyArguments, kSortThreads) { MakeKeys<uint64_t, uint64_t>(a); }

KERNEL(sort_lines, SortLineArguments, kSortThreads) {
  const DigitCounts counts(a.counts);
  for (int64_t i = GridThread(); i < a.count; i += GridThreads()) {
    int64_t line = reinterpret_cast<const uint32_t*>(a.order)[i];
    SplitIndex(&line, a.length);
    reinterpret_cast<uint32_t*>(a.keys)[i] = static_cast<uint32_t>(line);
    counts.Add(static_cast<uint32_t>(line));
  }
  counts.Finish();
}

// The lanes that have this one's digit.
__device__ __forceinline__ uint32_t LanesOfDigit(uint32_t digit) {
  uint32_t lanes = ~uint32_t{0};
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const uint32_t set = Ballot((digit >> bit & 1) != 0);
    lanes &= (digit >> bit & 1) != 0 ? set : ~set;
  }
  return lanes;
}

// A tile's word for a digit: how many elements have it, of the tile alone or of all tiles up to it.
constexpr uint64_t kDigitsOwn = uint64_t{1} << 32, kDigitsUpTo = uint64_t{2} << 32;

// How many elements of the tiles before have digit threadIdx.x; publishes that with the tile's own `total`.
// kLook words are under way at once.
__device__ __forceinline__ uint32_t LookBackDigit(const SortPassArguments& a, uint32_t tile, uint32_t total) {
  constexpr int kLook = 4;
  auto* const states = reinterpret_cast<uint64_t*>(a.states) + threadIdx.x;
  uint32_t before = 0;
  bool done = tile == 0;
  for (int64_t last = static_cast<int64_t>(tile) - 1; !done; last -= kLook) {
    uint64_t words[kLook];
#pragma unroll
    for (int l = 0; l < kLook; ++l)
      words[l] = last >= l ? LoadLatest(states + (last - l) * kSortDigits) : kDigitsUpTo;
#pragma unroll
    for (int l = 0; l < kLook; ++l) {
      if (done) continue;
      if (words[l] < kDigitsOwn) {
        words[l] =
            LoadWhen(states + (last - l) * kSortDigits, [](uint64_t word) { return word >= kDigitsOwn; });
      }
      before += static_cast<uint32_t>(words[l]);
      done = words[l] >= kDigitsUpTo;
    }
  }
  if (tile != 0) StoreLatest(states + int64_t{tile} * kSortDigits, kDigitsUpTo | uint32_t(before + total));
  return before;
}

template <typename Word, int kItems>
__device__ __forceinline__ void SortPass(const SortPassArguments& a) {
  constexpr uint32_t kWarps = kSortPassThreads / 32, kTile = kSortPassThreads * kItems;
  static_assert(kSortPassThreads >= kSortDigits);
  auto* const counts = reinterpret_cast<uint32_t*>(SharedMemory());  // [warp][digit]
  auto* const tile_keys = reinterpret_cast<Word*>(SharedMemory());   // in the same memory, in their new order
  auto* const tile_order = reinterpret_cast<uint32_t*>(SharedMemory());
  auto* const places =
      reinterpret_cast<uint32_t*>(SharedMemory() + SortPassSharedBytes(kItems, sizeof(Word))) -
      (kSortDigits + 32);  // [digit]
  uint32_t* const scratch = places + kSortDigits;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) scratch[31] = AtomicAdd(reinterpret_cast<uint32_t*>(a.ticket), 1);
  for (uint32_t i = threadIdx.x; i < kWarps * kSortDigits; i += kSortPassThreads) counts[i] = 0;
  SyncThreads();
  const uint32_t tile = scratch[31];
  const int64_t begin = int64_t{tile} * kTile, left = a.count - begin;
  const uint32_t valid = left < kTile ? static_cast<uint32_t>(left) : kTile;
  const uint32_t first = warp * (32 * kItems) + lane;
  const auto digit_of = [&](Word key) { return static_cast<uint32_t>(key >> a.shift) & (kSortDigits - 1); };
  Word keys[kItems];
  uint32_t ranks[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t i = first + j * 32;
    // Items beyond the end come last of all, and are not written.
    keys[j] = i < valid ? LoadStreaming(reinterpret_cast<const Word*>(a.keys_from) + begin + i)
                        : static_cast<Word>(~Word{0});
  }
  uint32_t* const own = counts + warp * kSortDigits;
  const uint32_t below = (uint32_t{1} << lane) - 1;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t digit = digit_of(keys[j]), lanes = LanesOfDigit(digit);
    const uint32_t found = own[digit];
    SyncWarp();
    if ((lanes & below) == 0) own[digit] = found + static_cast<uint32_t>(PopulationCount(lanes));
    SyncWarp();
    ranks[j] = found + static_cast<uint32_t>(PopulationCount(lanes & below));
  }
  SyncThreads();
  uint32_t total = 0, up_to = 0;
  if (threadIdx.x < kSortDigits) {
    uint32_t* const column = counts + threadIdx.x;
    for (uint32_t w = 0; w < kWarps; ++w) {
      const uint32_t count = column[w * kSortDigits];
      column[w * kSortDigits] = total;
      total += count;
    }
    StoreLatest(reinterpret_cast<uint64_t*>(a.states) + int64_t{tile} * kSortDigits + threadIdx.x,
                (tile == 0 ? kDigitsUpTo : kDigitsOwn) | total);
    up_to = total;
#pragma unroll
    for (uint32_t by = 1; by < 32; by *= 2) {
      const uint32_t other = ShuffleUp(up_to, by);
      if (lane >= by) up_to += other;
    }
    if (lane == 31) scratch[warp] = up_to;
  }
  SyncThreads();
  if (threadIdx.x < kSortDigits) {
    uint32_t before = 0;
    for (uint32_t w = 0; w < warp; ++w) before += scratch[w];
    places[threadIdx.x] = before + up_to - total;  // where the digit begins in the tile
  }
  SyncThreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t digit = digit_of(keys[j]);
    ranks[j] += own[digit] + places[digit];
  }
  SyncThreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) tile_keys[ranks[j]] = keys[j];
  if (threadIdx.x < kSortDigits) {
    // Where item i of the tile's new order goes, but for i.
    const uint32_t before = LookBackDigit(a, tile, total);
    places[threadIdx.x] =
        reinterpret_cast<const uint32_t*>(a.bases)[threadIdx.x] + before - places[threadIdx.x];
  }
  SyncThreads();
  uint32_t to[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t i = threadIdx.x + j * kSortPassThreads;
    const Word key = tile_keys[i];
    to[j] = places[digit_of(key)] + i;
    if (i < valid) reinterpret_cast<Word*>(a.keys_to)[to[j]] = key;
  }
  SyncThreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t i = first + j * 32;
    uint32_t position = static_cast<uint32_t>(begin + i);
    if (a.order_from != 0 && i < valid)
      position = LoadStreaming(reinterpret_cast<const uint32_t*>(a.order_from) + begin + i);
    tile_order[ranks[j]] = position;
  }
  SyncThreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const uint32_t i = threadIdx.x + j * kSortPassThreads;
    if (i < valid) reinterpret_cast<uint32_t*>(a.order_to)[to[j]] = tile_order[i];
  }
}
KERNEL(sort_pass_4, SortPassArguments, kSortPassThreads) { SortPass<uint32_t, kSortItems>(a); }
KERNEL(sort_pass_small_4, SortPassArguments, kSortPassThreads) { SortPass<uint32_t, kSortItemsSmall>(a); }
KERNEL(sort_pass_8, SortPassArguments, kSortPassThreads) { SortPass<uint64_t, kSortItems8>(a); }

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
