#include "hlo/proto/plain_values.h"

#include <algorithm>
#include <cstring>

#include "hlo/proto/wire.h"
#include "hlo/proto/words.h"

namespace assay::proto {
namespace {

constexpr int kMaxLevels = 4;  // of tuples; deeper ones are the decoder's

// Appends the numbers of a list, which comes packed or one by one.
bool TakeNumbers(const WireField& field, DimVector* numbers) {
  if (field.is_varint) numbers->push_back(static_cast<int64_t>(field.value));
  WireReader packed(field.payload);
  uint64_t value;
  while (!packed.AtEnd()) {
    if (!packed.ReadVarint(&value)) return false;
    numbers->push_back(static_cast<int64_t>(value));
  }
  return true;
}

// A LayoutProto with the default in every field but minor_to_major.
bool TakeLayout(std::string_view bytes, DimVector* minor_to_major) {
  constexpr int kMinorToMajor = 1, kTailPadding = 16;
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) {
    if (!reader.NextUsual(&field)) return false;
    if (field.number == kMinorToMajor) {
      if (!TakeNumbers(field, minor_to_major)) return false;
    } else if (field.number != kTailPadding || !field.is_varint || field.value > 1) {
      return false;
    }
  }
  return true;
}

// The fields of a ShapeProto.
struct ShapeFields {
  int32_t type = 0;
  DimVector sizes;
  std::vector<std::string_view> elements;
  std::optional<std::string_view> layout;
  size_t dynamic_flags = 0;  // how many; all are false

  bool Take(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (!reader.AtEnd()) {
      if (!reader.NextUsual(&field) || !Take(field)) return false;
    }
    return true;
  }
  bool Take(const WireField& field) {
    switch (field.number) {
      case 2:
        type = static_cast<int32_t>(std::min<uint64_t>(field.value, 1000));
        return field.is_varint;
      case 3:
        return TakeNumbers(field, &sizes);
      case 4:
        elements.push_back(field.payload);
        return field.is_bytes;
      case 5:
        if (layout) return false;  // two are merged
        layout = field.payload;
        return field.is_bytes;
      case 6:
        dynamic_flags += field.payload.size();
        return field.is_bytes &&
               std::all_of(field.payload.begin(), field.payload.end(), [](char flag) { return flag == 0; });
      default:
        return false;
    }
  }
};

std::optional<Shape> PlainArray(ElementType type, const ShapeFields& fields) {
  const DimVector& sizes = fields.sizes;
  if (fields.dynamic_flags != 0 && fields.dynamic_flags != sizes.size()) return std::nullopt;
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; })) return std::nullopt;
  absl::StatusOr<Shape> shape = Shape::Array(type, sizes);
  if (!shape.ok()) return std::nullopt;
  if (fields.layout) {
    Layout layout;
    if (!TakeLayout(*fields.layout, &layout.minor_to_major)) return std::nullopt;
    shape->set_layout(std::move(layout));
    if (!ValidateLayout(*shape).ok()) return std::nullopt;
  }
  return *std::move(shape);
}

std::optional<Shape> PlainShapeAt(std::string_view bytes, int level) {
  ShapeFields fields;
  if (level > kMaxLevels || !fields.Take(bytes)) return std::nullopt;
  if (const auto type = ElementTypeFromNumber(fields.type); type && fields.elements.empty())
    return PlainArray(*type, fields);
  if (fields.type != kTupleType || !fields.sizes.empty() || fields.layout || fields.dynamic_flags != 0)
    return std::nullopt;
  std::vector<Shape> elements;
  elements.reserve(fields.elements.size());
  for (const std::string_view element : fields.elements) {
    std::optional<Shape> shape = PlainShapeAt(element, level + 1);
    if (!shape) return std::nullopt;
    elements.push_back(*std::move(shape));
  }
  return Shape::Tuple(std::move(elements));
}

// How a LiteralProto has the elements of a type: which field, and whether each is a
// varint or in its own bytes.
struct ElementField {
  int32_t number = 0;  // 0: none here
  bool is_varint = false;
};

ElementField FieldOf(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return {2, true};
    case ElementType::kU8:
      return {3, false};
    case ElementType::kS32:
      return {4, true};
    case ElementType::kS64:
      return {5, true};
    case ElementType::kU32:
      return {6, true};
    case ElementType::kU64:
      return {7, true};
    case ElementType::kF32:
      return {8, false};
    case ElementType::kF64:
      return {9, false};
    case ElementType::kF16:
      return {11, false};
    case ElementType::kBF16:
      return {13, false};
    case ElementType::kS8:
      return {15, false};
    default:
      return {};
  }
}

// The varints of a packed list as elements of a type.
bool StoreVarints(std::string_view payload, ElementType type, std::span<std::byte> elements) {
  const auto width = static_cast<size_t>(Bytes(type));
  WireReader packed(payload);
  uint64_t value;
  for (size_t at = 0; at < elements.size(); at += width) {
    if (!packed.ReadVarint(&value)) return false;
    if (type == ElementType::kPred) value = value != 0 ? 1 : 0;
    std::memcpy(elements.data() + at, &value, width);  // the low bytes, little endian
  }
  return packed.AtEnd();
}

}  // namespace

std::optional<Shape> PlainShape(std::string_view bytes) { return PlainShapeAt(bytes, 0); }

std::optional<Literal> PlainLiteral(std::string_view bytes, ShapeReader read_shape) {
  constexpr int kShape = 1;
  WireReader reader(bytes);
  WireField shape_field, field;
  if (!reader.NextUsual(&shape_field) || shape_field.number != kShape || !shape_field.is_bytes ||
      !reader.NextUsual(&field) || !field.is_bytes || !reader.AtEnd()) {
    return std::nullopt;
  }
  const std::shared_ptr<const Shape> shape = read_shape(shape_field.payload);
  if (shape == nullptr || !shape->IsArray() || shape->HasDynamic() || !shape->layout().IsRowMajor())
    return std::nullopt;
  const ElementField has = FieldOf(shape->element_type());
  if (has.number != field.number) return std::nullopt;
  // A varint takes a byte or more: no more memory is asked for than the file is long.
  const auto size = static_cast<size_t>(shape->num_bytes()),
             count = static_cast<size_t>(shape->num_elements());
  if (has.is_varint ? count > field.payload.size() : size != field.payload.size()) return std::nullopt;
  absl::StatusOr<Literal> literal = Literal::Make(shape, nullptr, /*zero=*/false);
  if (!literal.ok()) return std::nullopt;
  const std::span<std::byte> elements = literal->MutableBytes();
  if (has.is_varint) {
    if (!StoreVarints(field.payload, shape->element_type(), elements)) return std::nullopt;
  } else if (!elements.empty()) {
    std::memcpy(elements.data(), field.payload.data(), elements.size());
  }
  return *std::move(literal);
}

}  // namespace assay::proto
