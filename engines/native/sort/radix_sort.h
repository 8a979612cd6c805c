// Stable sorts by unsigned keys, lowest digits first.
#ifndef ASSAY_ENGINES_NATIVE_SORT_RADIX_SORT_H_
#define ASSAY_ENGINES_NATIVE_SORT_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace assay::native {

// A key and the position of what has it.
struct Keyed32 {
  uint32_t position, key;
};
struct Keyed64 {
  uint64_t key;
  uint32_t position;
};
inline uint32_t SortedBy(uint32_t item) { return item; }
inline uint64_t SortedBy(uint64_t item) { return item; }
inline uint32_t SortedBy(const Keyed32& item) { return item.key; }
inline uint64_t SortedBy(const Keyed64& item) { return item.key; }

// Fewer are sorted by insertion: an item goes before those with larger keys.
inline constexpr int64_t kShortestRadixSort = 48;

// Items between two polls.
inline constexpr int64_t kRadixBlock = 1 << 16;

template <int kDigit, class Item, class Poll>
Item* RadixSortByDigits(Item* items, Item* scratch, int64_t n, int key_bits, const Poll& poll) {
  constexpr uint32_t kBins = 1 << kDigit;
  constexpr int kMaxPasses = (8 * sizeof(SortedBy(Item())) + kDigit - 1) / kDigit;
  const int passes = (key_bits + kDigit - 1) / kDigit;
  // Neighbours often have one digit: they are counted in turn in two tables,
  // which do not wait for each other.
  const auto memory = std::make_unique<uint32_t[]>((passes + 1) * kBins);
  uint32_t* counts[kMaxPasses];
  for (int p = 0; p < passes; ++p) counts[p] = memory.get() + p * kBins;
  const auto digit = [](const Item& item, int p) {
    return static_cast<uint32_t>(SortedBy(item) >> (p * kDigit)) & (kBins - 1);
  };
  uint32_t* const others = memory.get() + passes * kBins;
  const int top = passes - 1;
  for (int64_t from = 0; from < n; from += kRadixBlock) {
    for (int64_t i = from; i < std::min(n, from + kRadixBlock); ++i) {
      for (int p = 0; p < top; ++p) ++counts[p][digit(items[i], p)];
      ++(i % 2 == 0 ? counts[top] : others)[digit(items[i], top)];
    }
    if (n > kRadixBlock) poll();
  }
  for (uint32_t d = 0; d < kBins; ++d) counts[top][d] += others[d];
  for (int p = 0; p < passes; ++p) {
    uint32_t* const next = counts[p];
    if (next[digit(items[0], p)] == n) continue;  // one digit alone
    uint32_t sum = 0;
    for (uint32_t d = 0; d < kBins; ++d) sum += std::exchange(next[d], sum);
    for (int64_t from = 0; from < n; from += kRadixBlock) {
      for (int64_t i = from; i < std::min(n, from + kRadixBlock); ++i)
        scratch[next[digit(items[i], p)]++] = items[i];
      if (n > kRadixBlock) poll();
    }
    std::swap(items, scratch);
  }
  return items;
}

// Sorts n < 2^32 items by their keys, whose bits above the lowest `key_bits` are zero. The sorted ones are at
// the returned place, one of the two. Calls poll() now and then where they are many.
template <class Item, class Poll>
Item* RadixSort(Item* items, Item* scratch, int64_t n, int key_bits, const Poll& poll) {
  if (n < kShortestRadixSort) {
    for (int64_t i = 1; i < n; ++i) {
      const Item item = items[i];
      int64_t at = i;
      for (; at > 0 && SortedBy(item) < SortedBy(items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
    return items;
  }
  return n < 1 << 13 ? RadixSortByDigits<8>(items, scratch, n, key_bits, poll)
                     : RadixSortByDigits<11>(items, scratch, n, key_bits, poll);
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_RADIX_SORT_H_
