// Construction and relations of shapes; their memory layout is in layout.cc, their text in shape_text.cc.
#include "shape/shape.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "shape/shape_text.h"

namespace assay {

Layout Layout::RowMajor(int64_t rank) {
  Layout layout;
  layout.minor_to_major.resize(rank);
  for (int64_t d = 0; d < rank; ++d) layout.minor_to_major[d] = rank - 1 - d;
  return layout;
}

bool Layout::IsRowMajor() const {
  const int64_t rank = static_cast<int64_t>(minor_to_major.size());
  for (int64_t d = 0; d < rank; ++d) {
    if (minor_to_major[d] != rank - 1 - d) return false;
  }
  return true;
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.minor_to_major != b.minor_to_major) return false;
  if (a.tail == b.tail) return true;
  const LayoutTail none;
  return (a.tail ? *a.tail : none) == (b.tail ? *b.tail : none);
}

absl::StatusOr<Shape> Shape::Array(ElementType type, std::span<const int64_t> sizes) {
  if (sizes.size() > static_cast<size_t>(kMaxRank)) {
    return ProgramLimitExceeded({}, "the rank of a shape", static_cast<int64_t>(sizes.size()), kMaxRank);
  }
  Shape shape;
  shape.kind_ = Kind::kArray;
  shape.type_ = type;
  shape.sizes_.assign(sizes.begin(), sizes.end());
  int64_t bytes = Bytes(type);
  bool empty = false, overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == kUnboundedSize) {
      shape.dynamic_ |= uint64_t{1} << d;
    } else if (sizes[d] < 0) {
      return InvalidProgram({},
                            fmt::format("SHAPE-3: size of dimension {} is {}, want at least 0", d, sizes[d]));
    } else if (sizes[d] == 0) {
      empty = true;
    } else {
      overflow |= __builtin_mul_overflow(bytes, sizes[d], &bytes);
    }
  }
  if (overflow && !empty) {
    return InvalidProgram(
        {}, fmt::format("SHAPE-3: shape size overflows int64: {}", ShapeToText(shape, LayoutText::kNone)));
  }
  shape.layout_ = Layout::RowMajor(shape.rank());
  return shape;
}

Shape Shape::ArrayOrDie(ElementType type, std::span<const int64_t> sizes) {
  absl::StatusOr<Shape> shape = Array(type, sizes);
  ASSAY_CHECK(shape.ok());
  return *std::move(shape);
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.elements_ = std::move(elements);
  return shape;
}

Shape Shape::Token() {
  Shape shape;
  shape.kind_ = Kind::kToken;
  return shape;
}

Shape Shape::Opaque() {
  Shape shape;
  shape.kind_ = Kind::kOpaque;
  return shape;
}

Shape Shape::Buffer(Shape array) {
  Shape shape;
  shape.kind_ = Kind::kBuffer;
  shape.elements_.push_back(std::move(array));
  return shape;
}

bool Shape::IsEffectiveScalar() const {
  return IsArray() && std::all_of(sizes_.begin(), sizes_.end(), [](int64_t size) { return size == 1; });
}

bool Shape::HasUnboundedSize() const {
  return std::find(sizes_.begin(), sizes_.end(), kUnboundedSize) != sizes_.end();
}

void Shape::set_dynamic(int64_t d, bool dynamic) {
  const uint64_t bit = uint64_t{1} << d;
  dynamic_ = dynamic ? dynamic_ | bit : dynamic_ & ~bit;
}

int64_t Shape::num_elements() const {
  if (HasUnbounded()) return 0;
  // The constructor proved that it fits. With a zero size the others may be anything: wrap, never trap.
  uint64_t product = 1;
  for (int64_t size : sizes_) product *= static_cast<uint64_t>(size);
  return static_cast<int64_t>(product);
}

int64_t Shape::TotalBytes() const {
  switch (kind_) {
    case Kind::kArray:
      return num_bytes();
    case Kind::kToken:
      return 0;
    case Kind::kOpaque:
      return 8;
    case Kind::kTuple:
    case Kind::kBuffer:
      break;
  }
  int64_t total = 0;
  for (const Shape& element : elements_) {
    const auto sum = CheckedAdd(total, element.TotalBytes());
    if (!sum) return std::numeric_limits<int64_t>::max();
    total = *sum;
  }
  return total;
}

std::string Shape::ToString(bool with_layout) const {
  return ShapeToText(*this, with_layout ? LayoutText::kAlways : LayoutText::kNone);
}

namespace {

// One relation of section 7: which element types go together, and whether flags and layout count.
struct Relation {
  bool (*types)(ElementType a, ElementType b);
  bool exact;
};

bool SizesMatch(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int64_t d = 0; d < a.rank(); ++d) {
    // DYN-2: an unbounded dimension goes with any size.
    if (a.size(d) != b.size(d) && a.size(d) != kUnboundedSize && b.size(d) != kUnboundedSize) return false;
  }
  return true;
}

bool FlagsAndLayoutEqual(const Shape& a, const Shape& b) {
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.is_dynamic(d) != b.is_dynamic(d) || a.size(d) != b.size(d)) return false;
  }
  return a.layout() == b.layout();
}

bool Related(const Shape& a, const Shape& b, const Relation& relation) {
  if (a.kind() != b.kind()) return false;
  if (a.IsArray()) {
    return relation.types(a.element_type(), b.element_type()) && SizesMatch(a, b) &&
           (!relation.exact || FlagsAndLayoutEqual(a, b));
  }
  return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(),
                    [&](const Shape& x, const Shape& y) { return Related(x, y, relation); });
}

bool SameType(ElementType a, ElementType b) { return a == b; }
bool SameTypeOrFloats(ElementType a, ElementType b) { return a == b || (IsFloat(a) && IsFloat(b)); }
bool AnyType(ElementType, ElementType) { return true; }

}  // namespace

bool Shape::Equal(const Shape& a, const Shape& b) { return Related(a, b, {SameType, true}); }
bool Shape::Compatible(const Shape& a, const Shape& b) { return Related(a, b, {SameType, false}); }
bool Shape::CompatibleIgnoringFpPrecision(const Shape& a, const Shape& b) {
  return Related(a, b, {SameTypeOrFloats, false});
}
bool Shape::SameDimensions(const Shape& a, const Shape& b) { return Related(a, b, {AnyType, false}); }

const Shape* SubshapeOrNull(const Shape& shape, std::span<const int64_t> index) {
  const Shape* current = &shape;
  for (int64_t i : index) {
    if (!current->IsTuple() || i < 0 || i >= static_cast<int64_t>(current->elements().size())) return nullptr;
    current = &current->element(i);
  }
  return current;
}

namespace {

void VisitLeaves(const Shape& shape, ShapeIndex& index,
                 const std::function<void(const ShapeIndex&, const Shape&)>& fn) {
  if (!shape.IsTuple()) return fn(index, shape);
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    VisitLeaves(shape.element(i), index, fn);
    index.pop_back();
  }
}

}  // namespace

void ForEachLeaf(const Shape& shape, const std::function<void(const ShapeIndex&, const Shape&)>& fn) {
  ShapeIndex index;
  VisitLeaves(shape, index, fn);
}

std::vector<const Shape*> LeafShapes(const Shape& shape) {
  std::vector<const Shape*> leaves;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { leaves.push_back(&leaf); });
  return leaves;
}

}  // namespace assay
