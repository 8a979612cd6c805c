// Elements by their logical index: what the loops of the reference (evaluator/ops) are written in.
//
//   for (IndexWalk i(result_sizes); !i.done(); i.Next()) {
//     for (size_t d = 0; d < i.index().size(); ++d) from[d] = start[d] + i[d] * step[d];
//     std::memcpy(result.At(i.index()), operand.At(from), bytes);
//   }
//
// What is done for each element is inline here: it is most of the reference's time. Engines do not include
// this header: a wrong stride in a walk that both sides share would pass every cross-check.
#ifndef ASSAY_EVALUATOR_ELEMENTS_H_
#define ASSAY_EVALUATOR_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "literal/literal.h"

namespace assay {

using Index = std::span<const int64_t>;

// Every index of the space `sizes`, in logical order: lexicographic, dimension 0 slowest (INDEX-3). A space
// with a size of 0 has none; that of rank 0 has one, the empty index.
class IndexWalk {
 public:
  explicit IndexWalk(std::span<const int64_t> sizes);
  bool done() const { return done_; }
  void Next() {
    int64_t* const index = index_.data();
    const int64_t* const sizes = sizes_.data();
    for (size_t d = sizes_.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) return;
      index[d] = 0;
    }
    done_ = true;
  }
  Index index() const { return index_; }
  int64_t operator[](size_t d) const { return index_[d]; }

 private:
  const DimVector sizes_;
  DimVector index_;
  bool done_ = false;
};

// The row-major number of an index within `sizes`:  ((i0 * s1 + i1) * s2 + i2) …
inline int64_t PositionOf(Index index, std::span<const int64_t> sizes) {
  const int64_t *const i = index.data(), *const s = sizes.data();
  int64_t position = 0;
  for (size_t d = 0; d < sizes.size(); ++d) position = position * s[d] + i[d];
  return position;
}

// An array, or the one of a buffer, that is read. The literal outlives the view and is not written meanwhile.
class ArrayView {
 public:
  explicit ArrayView(const Literal& literal);
  // The element at an index within the shape's sizes: element_bytes() bytes.
  const std::byte* At(Index index) const { return data_ + PositionOf(index, sizes_) * bytes_; }
  int64_t element_bytes() const { return bytes_; }
  size_t rank() const { return sizes_.size(); }

 private:
  std::span<const int64_t> sizes_;
  int64_t bytes_;
  const std::byte* data_;
};

// An array that is written. A storage that others share is copied first.
class MutableArrayView {
 public:
  explicit MutableArrayView(Literal& literal);
  std::byte* At(Index index) const { return data_ + PositionOf(index, sizes_) * bytes_; }
  int64_t element_bytes() const { return bytes_; }
  size_t rank() const { return sizes_.size(); }

 private:
  std::span<const int64_t> sizes_;
  int64_t bytes_;
  std::byte* data_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_ELEMENTS_H_
