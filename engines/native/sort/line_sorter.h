// Lines of neighbouring elements sorted by integer keys.
#ifndef ASSAY_ENGINES_NATIVE_SORT_LINE_SORTER_H_
#define ASSAY_ENGINES_NATIVE_SORT_LINE_SORTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engines/native/sort/order_keys.h"
#include "engines/native/sort/radix_sort.h"
#include "jit/isa.h"

namespace assay {
class Parallel;  // base/parallel.h
}

namespace assay::native {

// Where the elements are that one key is made of.
struct KeySource {
  const KeyEncoder* encoder = nullptr;
  const std::byte* elements = nullptr;
  int64_t bytes = 0;  // of one
};

// Serves one thread: it has scratch memory of ScratchBytes(n).
class LineSorter {
 public:
  // Lines of n elements. The first key decides first; ties_reversed: those with equal keys come out last one
  // first. `parallel` is polled where they are many.
  LineSorter(const Parallel& parallel, Isa isa, std::span<const KeySource> keys, bool ties_reversed,
             int64_t n, std::byte* scratch);

  static int64_t ScratchBytes(int64_t n) { return n * (2 * sizeof(Keyed64) + sizeof(uint64_t)) + 128; }

  // The order of the line whose first element is element `at` of the sources: which element comes j-th, n of
  // them, until the next call. Empty where the keys have no order (KeyEncoder::Append).
  std::span<const uint32_t> Order(int64_t at);
  // Sorts alike where the only key's elements are all that is sorted, and can be decoded:
  // they are written to `out`.
  bool Sort(int64_t at, std::byte* out);

 private:
  template <class Word>
  bool MakeWords(int64_t at, std::span<const KeySource> group, int bits, Word* words) const;
  template <class Item, class Word>
  bool SortGroup(int64_t at, std::span<const KeySource> group, int bits, bool first);
  uint32_t PositionAt(int64_t j) const { return static_cast<uint32_t>(ties_reversed_ ? n_ - 1 - j : j); }
  template <class Word>
  bool SortWords(int64_t at, std::byte* out);
  template <class Word>
  void Restore(KeyEncoder::Class same, const Word* sorted, int64_t at, std::byte* out, bool zeros) const;

  const Parallel& parallel_;
  const bool vectors_;  // VectorSort runs here
  const std::span<const KeySource> keys_;
  const bool ties_reversed_;
  const int64_t n_;
  std::byte *words_, *items_, *more_;
  uint32_t* order_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_LINE_SORTER_H_
