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

ArrayView::ArrayView(const Literal& literal)
    : sizes_(ArrayShapeOf(literal).sizes()),
      bytes_(Bytes(ArrayShapeOf(literal).element_type())),
      data_(literal.data()) {}

MutableArrayView::MutableArrayView(Literal& literal)
    : sizes_(ArrayShapeOf(literal).sizes()),
      bytes_(Bytes(ArrayShapeOf(literal).element_type())),
      data_(literal.MutableBytes().data()) {}

}  // namespace assay
