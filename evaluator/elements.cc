#include "evaluator/elements.h"

#include <algorithm>

namespace assay {
namespace {

const Shape& ArrayShapeOf(const Literal& literal) {
  return literal.shape().IsBuffer() ? literal.shape().element(0) : literal.shape();
}

}  // namespace

IndexWalk::IndexWalk(std::span<const int64_t> sizes)
    : sizes_(sizes.begin(), sizes.end()), index_(sizes.size(), 0) {
  done_ = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
}

void IndexWalk::Next() {
  for (size_t d = sizes_.size(); d-- > 0;) {
    if (++index_[d] < sizes_[d]) return;
    index_[d] = 0;
  }
  done_ = true;
}

int64_t PositionOf(Index index, std::span<const int64_t> sizes) {
  int64_t position = 0;
  for (size_t d = 0; d < sizes.size(); ++d) position = position * sizes[d] + index[d];
  return position;
}

ArrayView::ArrayView(const Literal& literal)
    : sizes_(ArrayShapeOf(literal).sizes()),
      bytes_(Bytes(ArrayShapeOf(literal).element_type())),
      data_(literal.data()) {}

const std::byte* ArrayView::At(Index index) const { return data_ + PositionOf(index, sizes_) * bytes_; }

MutableArrayView::MutableArrayView(Literal& literal)
    : sizes_(ArrayShapeOf(literal).sizes()),
      bytes_(Bytes(ArrayShapeOf(literal).element_type())),
      data_(literal.MutableBytes().data()) {}

std::byte* MutableArrayView::At(Index index) const { return data_ + PositionOf(index, sizes_) * bytes_; }

}  // namespace assay
