// Arguments of the kernels of sort.cu: a stable sort of positions by keys, one byte of them after the other
// from the lowest, as launches over all elements of all lines at once. Positions are line * length + place,
// of fewer than 2^32 elements.
#ifndef ASSAY_GPU_KERNELS_SORT_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_SORT_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/strides.h"

namespace assay::gpu {

constexpr int kSortThreads = 256, kSortDigits = 256;
constexpr int kSortItems = 16;  // of a thread
constexpr int64_t kSortTile = kSortThreads * kSortItems;
constexpr int64_t SortBlocks(int64_t count) { return (count + kSortTile - 1) / kSortTile; }

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
  Strides positions;  // where `from` has a position
  uint64_t order, keys;
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

// A pass by the byte of the keys from bit `shift` on: sort_count_W with SortBlocks blocks, sort_scan with
// SortScanBlocks, sort_scatter_W with SortBlocks blocks, each of kSortThreads threads and kSortSharedBytes; W
// is 4 or 8 bytes of a key. Where there are no keys, by the number of the line.
struct SortPassArguments {
  uint64_t keys_from, keys_to;    // 0: none
  uint64_t order_from, order_to;  // uint32_t [count]
  uint64_t counts;                // uint32_t [kSortDigits * SortBlocks]
  uint64_t totals;                // uint32_t [kSortDigits]
  int64_t count, blocks, length;
  int32_t shift;
};
constexpr int64_t SortScanBlocks(int64_t tiles) { return tiles <= 32 ? 1 : kSortDigits; }
constexpr uint32_t kSortSharedBytes = (kSortThreads / 32 * kSortDigits + kSortDigits + 64) * 4;

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
