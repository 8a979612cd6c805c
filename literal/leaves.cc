#include "literal/leaves.h"

#include <utility>

namespace assay {
namespace {

void VisitLeaves(const Literal& value, ShapeIndex& index,
                 absl::FunctionRef<void(const ShapeIndex&, const Literal&)> fn) {
  if (!value.shape().IsTuple()) return fn(index, value);
  for (int64_t i = 0; i < value.tuple_size(); ++i) {
    index.push_back(i);
    VisitLeaves(value.element(i), index, fn);
    index.pop_back();
  }
}

}  // namespace

void ForEachLeaf(const Literal& value, absl::FunctionRef<void(const ShapeIndex&, const Literal&)> fn) {
  ShapeIndex index;
  VisitLeaves(value, index, fn);
}

void AppendLeaves(Literal value, std::vector<Literal>& leaves) {
  if (!value.shape().IsTuple()) return leaves.push_back(std::move(value));
  for (Literal& element : std::move(value).TakeElements()) AppendLeaves(std::move(element), leaves);
}

std::vector<Literal> LeavesOf(Literal value) {
  std::vector<Literal> leaves;
  AppendLeaves(std::move(value), leaves);
  return leaves;
}

Literal FromLeaves(const std::shared_ptr<const Shape>& shape, std::span<Literal>& leaves) {
  if (!shape->IsTuple()) {
    Literal& leaf = leaves.front();
    leaves = leaves.subspan(1);
    return std::move(leaf);
  }
  std::vector<Literal> elements;
  elements.reserve(shape->elements().size());
  for (const Shape& element : shape->elements()) elements.push_back(FromLeaves({shape, &element}, leaves));
  return Literal::Tuple(shape, std::move(elements));
}

}  // namespace assay
