// Arguments of the kernels of sort.cu: a stable sort of positions by keys, one byte of them after the other
// from the lowest, as launches over all elements of all lines at once. Positions are line * length + place,
// of fewer than 2^32 elements. The kernel that makes the keys also counts the bytes of all passes.
#ifndef ASSAY_GPU_KERNELS_SORT_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_SORT_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/strides.h"

namespace assay::gpu {

constexpr int kSortThreads = 256, kSortDigits = 256;

// Of kernels that make keys and count their bytes (sort_digits.cuh); they want SortCountSharedBytes.
struct SortCounts {
  uint64_t counts;   // uint32_t [passes * kSortDigits], 0
  uint64_t counter;  // uint32_t, 0
  uint64_t bases;    // uint32_t [passes * kSortDigits]: how many items have a lower byte
  int32_t passes;    // 1 to 8
};
constexpr uint32_t SortCountSharedBytes(int passes) {
  return static_cast<uint32_t>(passes * kSortDigits * 4 + 16);
}

// sort_start: the positions of every line, the last one first where `reversed`.
// Any number of blocks of kSortThreads threads.
struct SortStartArguments {
  uint64_t order;  // uint32_t [count]
  int64_t count, length;
  int32_t reversed;
};

// sort_keys_N of elements of N bytes: keys[i] is the element at position order[i] as an unsigned number in
// the wanted order, of 4 bytes, or 8 of those of 8. Any number of blocks of kSortThreads threads.
struct SortKeyArguments {
  uint64_t from;
  Strides positions;     // where `from` has a position
  uint64_t order, keys;  // order 0: positions are in order
  SortCounts counts;
  int64_t count;
  uint64_t table;       // of elements of one byte, uint8_t [256]: their ranks; of others the rest
  uint64_t complement;  // all bits where the order is descending
  uint64_t sign;        // of integers: what is flipped
  uint64_t infinity;    // of floats: its bits
  uint64_t zero_key, nan_key;
  uint64_t unordered;  // uint32_t, which becomes 1 where there is a NaN; 0: nobody asks
  int32_t is_float;
  int32_t has_zero_key, has_nan_key;  // of floats: both zeros, all NaNs have one key
};

// sort_lines: keys[i] is the line of order[i]. Any number of blocks of kSortThreads threads.
struct SortLineArguments {
  uint64_t order, keys;  // uint32_t [count]
  SortCounts counts;
  int64_t count, length;
};

// A pass by the byte of the keys from bit `shift` on: one launch, in which tiles find their places by
// decoupled look-back. sort_pass_4 and sort_pass_small_4 of keys of 4 bytes, sort_pass_8 of those of 8, have
// tiles of kSortPassThreads times kSortItems, kSortItemsSmall or kSortItems8: SortTiles blocks and
// SortPassSharedBytes.
struct SortPassArguments {
  uint64_t keys_from, keys_to;
  uint64_t order_from, order_to;  // uint32_t [count]; order_from 0: positions are in order
  uint64_t bases;                 // of this pass
  uint64_t states;                // uint64_t [tiles * kSortDigits], 0
  uint64_t ticket;                // uint32_t, 0
  int64_t count;
  int32_t shift;
};
constexpr int kSortPassThreads = 512;
constexpr int kSortItems = 20, kSortItemsSmall = 16, kSortItems8 = 8;
constexpr int64_t SortTiles(int64_t count, int items) {
  return (count + kSortPassThreads * items - 1) / (kSortPassThreads * items);
}
// Counts of digits of all warps, then the tile in its new order; where digits begin; a number a warp.
constexpr uint32_t SortPassSharedBytes(int items, int key_bytes) {
  constexpr int kCounts = kSortPassThreads / 32 * kSortDigits * 4;
  const int tile = kSortPassThreads * items * key_bytes;
  return static_cast<uint32_t>((kCounts > tile ? kCounts : tile) + kSortDigits * 4 + 32 * 4);
}

// sort_take_N: to[i] = from[order[p]] for the first `taken` positions p of each line; sort_places: their
// places in the line, as int32_t. Any number of blocks of kSortThreads threads.
struct SortTakeArguments {
  uint64_t from, to, order;
  Strides positions;  // of `from`
  Strides places;     // of `to`: over lines and taken positions
  int64_t count;      // lines * taken
  int64_t length, taken;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SORT_ARGUMENTS_H_
