#include "engines/native/sort/line_sorter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "engines/native/sort/vector_sort.h"

namespace assay::native {
namespace {

constexpr int kBitsOfTwoDigits = 16;  // shorter keys are sorted by digits in any case

}  // namespace

// Words and the order share one place: words are done with when the order is written. Both others have room
// for what a vector stores beyond the end.
LineSorter::LineSorter(const Parallel& parallel, Isa isa, std::span<const KeySource> keys, bool ties_reversed,
                       int64_t n, std::byte* scratch)
    : parallel_(parallel), vectors_(isa == Isa::kAvx512), keys_(keys), ties_reversed_(ties_reversed), n_(n) {
  items_ = scratch;
  more_ = items_ + n * static_cast<int64_t>(sizeof(Keyed64)) + 64;
  words_ = more_ + n * static_cast<int64_t>(sizeof(Keyed64)) + 64;
  order_ = reinterpret_cast<uint32_t*>(words_);
}

std::span<const uint32_t> LineSorter::Order(int64_t at) {
  // Groups of keys that fit one word, the last group first: later sorts leave its
  // order where theirs has none.
  size_t end = keys_.size();
  while (end > 0) {
    size_t begin = end;
    int bits = 0;
    while (begin > 0 && bits + keys_[begin - 1].encoder->bits() <= 64) bits += keys_[--begin].encoder->bits();
    const std::span<const KeySource> group = keys_.subspan(begin, end - begin);
    const bool first = end == keys_.size();
    const bool ordered = bits <= 32 ? SortGroup<Keyed32, uint32_t>(at, group, bits, first)
                                    : SortGroup<Keyed64, uint64_t>(at, group, bits, first);
    if (!ordered) return {};
    end = begin;
  }
  return {order_, static_cast<size_t>(n_)};
}

template <class Word>
bool LineSorter::MakeWords(int64_t at, std::span<const KeySource> group, int bits, Word* words) const {
  if (group.size() > 1 || bits < 8 * static_cast<int>(sizeof(Word))) std::fill_n(words, n_, Word{0});
  for (const KeySource& source : group) {
    if (!source.encoder->Append(source.elements + at * source.bytes, n_, words)) return false;
  }
  return true;
}

template <class Item, class Word>
bool LineSorter::SortGroup(int64_t at, std::span<const KeySource> group, int bits, bool first) {
  const auto poll = [this] { parallel_.Poll(); };
  auto* const items = reinterpret_cast<Item*>(items_);
  // The order of the groups before stands where words would: words are made behind the items of this one.
  auto* const words = reinterpret_cast<Word*>(first ? words_ : more_);
  if (!MakeWords(at, group, bits, words)) return false;
  for (int64_t j = 0; j < n_; ++j) {
    const uint32_t p = first ? PositionAt(j) : order_[j];
    items[j].position = p;
    items[j].key = words[p];
  }
  if constexpr (sizeof(Item) == sizeof(uint64_t)) {
    static_assert(std::endian::native == std::endian::little);  // the key is above the position
    if (vectors_ && first && bits > kBitsOfTwoDigits) {
      // They are sorted as integers, which all differ and so have one order.
      if (ties_reversed_) {
        for (int64_t j = 0; j < n_; ++j) items[j].position = static_cast<uint32_t>(j);
      }
      auto* const integers = reinterpret_cast<uint64_t*>(items_);
      VectorSort(integers, reinterpret_cast<uint64_t*>(more_), n_, poll);
      for (int64_t j = 0; j < n_; ++j) order_[j] = PositionAt(static_cast<uint32_t>(integers[j]));
      return true;
    }
  }
  const Item* const sorted = RadixSort(items, reinterpret_cast<Item*>(more_), n_, bits, poll);
  for (int64_t j = 0; j < n_; ++j) order_[j] = sorted[j].position;
  return true;
}

bool LineSorter::Sort(int64_t at, std::byte* out) {
  return keys_[0].encoder->bits() <= 32 ? SortWords<uint32_t>(at, out) : SortWords<uint64_t>(at, out);
}

template <class Word>
bool LineSorter::SortWords(int64_t at, std::byte* out) {
  const auto poll = [this] { parallel_.Poll(); };
  const KeySource& source = keys_[0];
  auto* const words = reinterpret_cast<Word*>(items_);
  if (!MakeWords(at, keys_, source.encoder->bits(), words)) return false;
  const Word* sorted = words;
  if (vectors_ && source.encoder->bits() > kBitsOfTwoDigits) {
    VectorSort(words, reinterpret_cast<Word*>(more_), n_, poll);
  } else {
    sorted = RadixSort(words, reinterpret_cast<Word*>(more_), n_, source.encoder->bits(), poll);
  }
  source.encoder->Decode(sorted, n_, out);
  Restore(source.encoder->zeros(), sorted, at, out, /*zeros=*/true);
  Restore(source.encoder->nans(), sorted, at, out, /*zeros=*/false);
  return true;
}

// Writes the elements of one class anew, in the order of the line.
template <class Word>
void LineSorter::Restore(KeyEncoder::Class same, const Word* sorted, int64_t at, std::byte* out,
                         bool zeros) const {
  if (!same.exists) return;
  const auto key = static_cast<Word>(same.key);
  const auto [begin, end] = std::equal_range(sorted, sorted + n_, key);
  const KeySource& source = keys_[0];
  const std::byte* const line = source.elements + at * source.bytes;
  std::byte* to = out + (begin - sorted) * source.bytes;
  const std::byte* const to_end = out + (end - sorted) * source.bytes;
  for (int64_t j = 0; to < to_end; ++j) {
    const std::byte* const element = line + (ties_reversed_ ? n_ - 1 - j : j) * source.bytes;
    if (!(zeros ? source.encoder->IsZero(element) : source.encoder->IsNaN(element))) continue;
    std::memcpy(to, element, static_cast<size_t>(source.bytes));
    to += source.bytes;
  }
}

}  // namespace assay::native
