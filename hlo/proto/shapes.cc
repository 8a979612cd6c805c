// ShapeProto, LayoutProto, ProgramShapeProto.
#include <algorithm>
#include <array>
#include <string>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/values.h"
#include "hlo/proto/words.h"

namespace assay::proto {
namespace {

absl::Status ReadIndexType(std::string_view field, int32_t number, std::optional<ElementType>* type) {
  if (number == 0) return absl::OkStatus();
  *type = ElementTypeFromNumber(number);
  if (*type && IsUnsignedIntegral(**type)) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("layout: {} is {}, want an unsigned integral PrimitiveType", field, number));
}

// The texts that the values of PaddingValue have in a layout of elements of `type`, by their numbers from 1
// on: zero, one, lowest, highest; empty where the type has none.
std::array<std::string, 4> PaddingTexts(ElementType type) {
  if (type == ElementType::kPred) return {"false", "true", "false", "true"};
  if (IsComplex(type)) return {"(0, 0)", "(1, 0)", "", ""};
  const int bits = Bits(type);
  const uint64_t most = ~uint64_t{0} >> (64 - bits);
  if (IsUnsignedIntegral(type)) return {"0", "1", "0", fmt::to_string(most)};
  if (IsSignedIntegral(type)) {
    const auto highest = static_cast<int64_t>(most >> 1);
    return {"0", bits > 1 ? "1" : "", fmt::to_string(-highest - 1), fmt::to_string(highest)};
  }
  const bool has_infinity = Info(type).format->has_infinity();
  return {"0", "1", has_infinity ? "-inf" : "", has_infinity ? "inf" : ""};
}

absl::Status ReadPaddingValue(ElementType type, int32_t number, std::string* text) {
  if (number == 0) return absl::OkStatus();
  const std::array<std::string, 4> texts = PaddingTexts(type);
  if (number < 1 || number > 4) {
    return InvalidProgram(
        {}, fmt::format("layout: padding_value is {}, want 1 (zero), 2 (one), 3 (lowest) or 4 (highest)",
                        number));
  }
  *text = texts[number - 1];
  if (!text->empty()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("layout: padding_value is {}, which {} has not", number, Name(type)));
}

absl::StatusOr<int32_t> PaddingNumber(ElementType type, const std::string& text) {
  if (text.empty()) return 0;
  const std::array<std::string, 4> texts = PaddingTexts(type);
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found != texts.end()) return static_cast<int32_t>(found - texts.begin()) + 1;
  return NotSupported(
      {}, fmt::format("a layout whose padding has the value {} (V) can't be written as a LayoutProto, which "
                      "has zero, one, the lowest and the highest",
                      text));
}

absl::StatusOr<Layout> LayoutFrom(ElementType type, const pb::LayoutProto& message) {
  Layout layout;
  layout.minor_to_major.assign(message.minor_to_major().begin(), message.minor_to_major().end());
  LayoutTail tail;
  for (const pb::TileProto& tile : message.tiles()) {
    tail.tiles.emplace_back(tile.dimensions().begin(), tile.dimensions().end());
  }
  const int64_t alignment = message.tail_padding_alignment_in_elements();
  tail.tail_padding_alignment_in_elements = alignment == 0 ? 1 : alignment;
  tail.element_size_in_bits = message.element_size_in_bits();
  tail.memory_space = message.memory_space();
  for (const pb::SplitConfigProto& split : message.split_configs()) {
    tail.split_configs.push_back(
        {split.dimension(), {split.split_indices().begin(), split.split_indices().end()}});
  }
  tail.dynamic_shape_metadata_prefix_bytes = message.dynamic_shape_metadata_prefix_bytes();
  ASSAY_RETURN_IF_ERROR(
      ReadIndexType("index_primitive_type", message.index_primitive_type(), &tail.index_type));
  ASSAY_RETURN_IF_ERROR(
      ReadIndexType("pointer_primitive_type", message.pointer_primitive_type(), &tail.pointer_type));
  tail.padded_dimensions.assign(message.padded_dimensions().begin(), message.padded_dimensions().end());
  if (!tail.padded_dimensions.empty())
    ASSAY_RETURN_IF_ERROR(ReadPaddingValue(type, message.padding_value(), &tail.padding_value));
  if (!(tail == LayoutTail{})) layout.tail = std::make_shared<const LayoutTail>(std::move(tail));
  return layout;
}

absl::StatusOr<Shape> ArrayShapeFrom(ElementType type, const pb::ShapeProto& message) {
  const auto& dynamic = message.is_dynamic_dimension();
  const int rank = message.dimensions_size();
  if (!dynamic.empty() && dynamic.size() != rank) {
    return InvalidProgram({}, fmt::format("shape: is_dynamic_dimension has {}, dimensions has {}",
                                          Counted(dynamic.size(), "entry"), rank));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape,
                         Shape::Array(type, {message.dimensions().data(), static_cast<size_t>(rank)}));
  for (int d = 0; d < dynamic.size(); ++d) {
    if (dynamic[d]) shape.set_dynamic(d, true);
  }
  for (int d = 0; d < rank; ++d) {
    if (shape.size(d) == kUnboundedSize && !shape.is_dynamic(d)) {
      return InvalidProgram({}, fmt::format("shape: dimension {} is unbounded, but not dynamic", d));
    }
  }
  if (!message.has_layout()) return shape;
  ASSAY_ASSIGN_OR_RETURN(Layout layout, LayoutFrom(type, message.layout()));
  shape.set_layout(std::move(layout));
  const absl::Status valid = ValidateLayout(shape);
  // Sparse types are read, so that a program can be printed; the verifier refuses them.
  if (!valid.ok() && !absl::IsUnimplemented(valid)) return valid;
  return shape;
}

absl::StatusOr<Shape> TupleFrom(const pb::ShapeProto& message, int depth) {
  std::vector<Shape> elements;
  elements.reserve(message.tuple_shapes_size());
  for (const pb::ShapeProto& element : message.tuple_shapes()) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFrom(element, depth + 1));
    elements.push_back(std::move(shape));
  }
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> BufferFrom(const pb::ShapeProto& message) {
  const auto type = message.tuple_shapes_size() == 1
                        ? ElementTypeFromNumber(message.tuple_shapes(0).element_type())
                        : std::nullopt;
  if (!type) return InvalidProgram({}, "shape: a buffer wants exactly one array in tuple_shapes");
  ASSAY_ASSIGN_OR_RETURN(Shape array, ArrayShapeFrom(*type, message.tuple_shapes(0)));
  return Shape::Buffer(std::move(array));
}

absl::Status WriteLayout(ElementType type, const Layout& layout, pb::LayoutProto* message) {
  message->mutable_minor_to_major()->Add(layout.minor_to_major.begin(), layout.minor_to_major.end());
  message->set_tail_padding_alignment_in_elements(1);
  if (layout.tail == nullptr) return absl::OkStatus();
  const LayoutTail& tail = *layout.tail;
  message->mutable_padded_dimensions()->Add(tail.padded_dimensions.begin(), tail.padded_dimensions.end());
  ASSAY_ASSIGN_OR_RETURN(const int32_t padding_value, PaddingNumber(type, tail.padding_value));
  message->set_padding_value(padding_value);
  for (const Tile& tile : tail.tiles) {
    message->add_tiles()->mutable_dimensions()->Add(tile.begin(), tile.end());
  }
  message->set_tail_padding_alignment_in_elements(tail.tail_padding_alignment_in_elements);
  message->set_element_size_in_bits(tail.element_size_in_bits);
  message->set_memory_space(tail.memory_space);
  for (const LayoutTail::SplitConfig& split : tail.split_configs) {
    pb::SplitConfigProto* const added = message->add_split_configs();
    added->set_dimension(split.dimension);
    added->mutable_split_indices()->Add(split.split_indices.begin(), split.split_indices.end());
  }
  message->set_dynamic_shape_metadata_prefix_bytes(tail.dynamic_shape_metadata_prefix_bytes);
  if (tail.index_type) message->set_index_primitive_type(NumberOf(*tail.index_type));
  if (tail.pointer_type) message->set_pointer_primitive_type(NumberOf(*tail.pointer_type));
  return absl::OkStatus();
}

absl::Status WriteArray(const Shape& shape, pb::ShapeProto* message) {
  message->set_element_type(NumberOf(shape.element_type()));
  message->mutable_dimensions()->Add(shape.sizes().begin(), shape.sizes().end());
  for (int64_t d = 0; d < shape.rank(); ++d) message->add_is_dynamic_dimension(shape.is_dynamic(d));
  return WriteLayout(shape.element_type(), shape.layout(), message->mutable_layout());
}

}  // namespace

absl::StatusOr<Shape> ShapeFrom(const pb::ShapeProto& message, int depth) {
  if (depth > kMaxNesting) {
    return ProgramLimitExceeded({}, "the nesting of a tuple shape", depth, kMaxNesting);
  }
  const int32_t number = message.element_type();
  const auto type = ElementTypeFromNumber(number);
  if (message.tuple_shapes_size() > 0 && number != kTupleType && number != kBufferType) {
    return InvalidProgram({},
                          fmt::format("shape: tuple_shapes has {}, but element_type is {}, want {} (tuple)",
                                      Counted(message.tuple_shapes_size(), "entry"), number, kTupleType));
  }
  if (type) return ArrayShapeFrom(*type, message);
  if (message.dimensions_size() > 0) {
    return InvalidProgram({}, fmt::format("shape: found {} with element_type {}, which is not an array type",
                                          Counted(message.dimensions_size(), "dimension"), number));
  }
  switch (number) {
    case kTupleType:
      return TupleFrom(message, depth);
    case kOpaqueType:
      return Shape::Opaque();
    case kTokenType:
      return Shape::Token();
    case kBufferType:
      return BufferFrom(message);
    default:
      return InvalidProgram({},
                            fmt::format("shape: element_type is {}, want a PrimitiveType, 1 to 36", number));
  }
}

absl::Status WriteShape(const Shape& shape, pb::ShapeProto* message) {
  switch (shape.kind()) {
    case Shape::Kind::kArray:
      return WriteArray(shape, message);
    case Shape::Kind::kToken:
      message->set_element_type(kTokenType);
      return absl::OkStatus();
    case Shape::Kind::kOpaque:
      message->set_element_type(kOpaqueType);
      return absl::OkStatus();
    case Shape::Kind::kTuple:
    case Shape::Kind::kBuffer:
      break;
  }
  message->set_element_type(shape.IsTuple() ? kTupleType : kBufferType);
  for (const Shape& element : shape.elements())
    ASSAY_RETURN_IF_ERROR(WriteShape(element, message->add_tuple_shapes()));
  return absl::OkStatus();
}

absl::StatusOr<ProgramShape> ProgramShapeFrom(const pb::ProgramShapeProto& message) {
  ProgramShape result;
  result.parameters.reserve(message.parameters_size());
  for (const pb::ShapeProto& parameter : message.parameters()) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFrom(parameter));
    result.parameters.push_back(std::move(shape));
  }
  if (!message.has_result()) return InvalidProgram({}, "program shape: the result is missing");
  ASSAY_ASSIGN_OR_RETURN(result.result, ShapeFrom(message.result()));
  return result;
}

}  // namespace assay::proto
