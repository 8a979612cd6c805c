// LiteralProto. Its elements stand in the order of the layout; ours stand in logical order, row-major.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/values.h"

namespace assay::proto {
namespace {

// The field that holds the elements of one type, as the bytes that a dense literal has,
// in the order of the layout.
struct Elements {
  std::string_view field;
  std::string_view bytes;
};

template <typename T>
std::string_view BytesOf(const google::protobuf::RepeatedField<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Elements ElementsOf(ElementType type, const pb::LiteralProto& m) {
  static_assert(sizeof(bool) == 1);
  switch (type) {
    case ElementType::kPred:
      return {"preds", BytesOf(m.preds())};
    case ElementType::kS1:
      return {"s1s", m.s1s()};
    case ElementType::kS2:
      return {"s2s", m.s2s()};
    case ElementType::kS4:
      return {"s4s", m.s4s()};
    case ElementType::kS8:
      return {"s8s", m.s8s()};
    case ElementType::kS16:
      return {"s16s", m.s16s()};
    case ElementType::kS32:
      return {"s32s", BytesOf(m.s32s())};
    case ElementType::kS64:
      return {"s64s", BytesOf(m.s64s())};
    case ElementType::kU1:
      return {"u1s", m.u1s()};
    case ElementType::kU2:
      return {"u2s", m.u2s()};
    case ElementType::kU4:
      return {"u4s", m.u4s()};
    case ElementType::kU8:
      return {"u8s", m.u8s()};
    case ElementType::kU16:
      return {"u16s", m.u16s()};
    case ElementType::kU32:
      return {"u32s", BytesOf(m.u32s())};
    case ElementType::kU64:
      return {"u64s", BytesOf(m.u64s())};
    case ElementType::kF16:
      return {"f16s", m.f16s()};
    case ElementType::kF32:
      return {"f32s", BytesOf(m.f32s())};
    case ElementType::kF64:
      return {"f64s", BytesOf(m.f64s())};
    case ElementType::kBF16:
      return {"bf16s", m.bf16s()};
    case ElementType::kF8E5M2:
      return {"f8e5m2s", m.f8e5m2s()};
    case ElementType::kF8E4M3:
      return {"f8e4m3s", m.f8e4m3s()};
    case ElementType::kF8E4M3FN:
      return {"f8e4m3fns", m.f8e4m3fns()};
    case ElementType::kF8E4M3B11FNUZ:
      return {"f8e4m3b11fnuzs", m.f8e4m3b11fnuzs()};
    case ElementType::kF8E3M4:
      return {"f8e3m4s", m.f8e3m4s()};
    case ElementType::kF8E5M2FNUZ:
      return {"f8e5m2fnuzs", m.f8e5m2fnuzs()};
    case ElementType::kF8E4M3FNUZ:
      return {"f8e4m3fnuzs", m.f8e4m3fnuzs()};
    case ElementType::kF8E8M0FNU:
      return {"f8e8m0fnus", m.f8e8m0fnus()};
    case ElementType::kF6E3M2FN:
      return {"f6e3m2fns", m.f6e3m2fns()};
    case ElementType::kF6E2M3FN:
      return {"f6e2m3fns", m.f6e2m3fns()};
    case ElementType::kF4E2M1FN:
      return {"f4e2m1fns", m.f4e2m1fns()};
    case ElementType::kC64:
      return {"c64s", BytesOf(m.c64s())};
    case ElementType::kC128:
      return {"c128s", BytesOf(m.c128s())};
  }
  return {};
}

template <typename T>
void Assign(const std::string& bytes, google::protobuf::RepeatedField<T>* values) {
  if (bytes.empty()) return;  // mutable_data() is null then
  values->Resize(static_cast<int>(bytes.size() / sizeof(T)), T());
  std::memcpy(values->mutable_data(), bytes.data(), bytes.size());
}

void SetElements(ElementType type, std::string bytes, pb::LiteralProto* m) {
  switch (type) {
    case ElementType::kPred:
      return Assign(bytes, m->mutable_preds());
    case ElementType::kS1:
      return m->set_s1s(std::move(bytes));
    case ElementType::kS2:
      return m->set_s2s(std::move(bytes));
    case ElementType::kS4:
      return m->set_s4s(std::move(bytes));
    case ElementType::kS8:
      return m->set_s8s(std::move(bytes));
    case ElementType::kS16:
      return m->set_s16s(std::move(bytes));
    case ElementType::kS32:
      return Assign(bytes, m->mutable_s32s());
    case ElementType::kS64:
      return Assign(bytes, m->mutable_s64s());
    case ElementType::kU1:
      return m->set_u1s(std::move(bytes));
    case ElementType::kU2:
      return m->set_u2s(std::move(bytes));
    case ElementType::kU4:
      return m->set_u4s(std::move(bytes));
    case ElementType::kU8:
      return m->set_u8s(std::move(bytes));
    case ElementType::kU16:
      return m->set_u16s(std::move(bytes));
    case ElementType::kU32:
      return Assign(bytes, m->mutable_u32s());
    case ElementType::kU64:
      return Assign(bytes, m->mutable_u64s());
    case ElementType::kF16:
      return m->set_f16s(std::move(bytes));
    case ElementType::kF32:
      return Assign(bytes, m->mutable_f32s());
    case ElementType::kF64:
      return Assign(bytes, m->mutable_f64s());
    case ElementType::kBF16:
      return m->set_bf16s(std::move(bytes));
    case ElementType::kF8E5M2:
      return m->set_f8e5m2s(std::move(bytes));
    case ElementType::kF8E4M3:
      return m->set_f8e4m3s(std::move(bytes));
    case ElementType::kF8E4M3FN:
      return m->set_f8e4m3fns(std::move(bytes));
    case ElementType::kF8E4M3B11FNUZ:
      return m->set_f8e4m3b11fnuzs(std::move(bytes));
    case ElementType::kF8E3M4:
      return m->set_f8e3m4s(std::move(bytes));
    case ElementType::kF8E5M2FNUZ:
      return m->set_f8e5m2fnuzs(std::move(bytes));
    case ElementType::kF8E4M3FNUZ:
      return m->set_f8e4m3fnuzs(std::move(bytes));
    case ElementType::kF8E8M0FNU:
      return m->set_f8e8m0fnus(std::move(bytes));
    case ElementType::kF6E3M2FN:
      return m->set_f6e3m2fns(std::move(bytes));
    case ElementType::kF6E2M3FN:
      return m->set_f6e2m3fns(std::move(bytes));
    case ElementType::kF4E2M1FN:
      return m->set_f4e2m1fns(std::move(bytes));
    case ElementType::kC64:
      return Assign(bytes, m->mutable_c64s());
    case ElementType::kC128:
      return Assign(bytes, m->mutable_c128s());
  }
}

// Calls copy(logical, physical), byte offsets, for each element; row-major arrays in one piece.
template <typename Copy>
void ForEachElement(const Shape& shape, Copy copy) {
  const int64_t width = Bytes(shape.element_type()), rank = shape.rank(), count = shape.num_elements();
  if (count == 0) return;  // the bytes of none may be null
  if (shape.layout().IsRowMajor()) return copy(0, 0, count * width);
  DimVector strides(rank), index(rank, 0);
  int64_t stride = width;
  for (const int64_t d : shape.layout().minor_to_major) {
    strides[d] = stride;
    stride *= shape.size(d);
  }
  int64_t physical = 0;
  for (int64_t i = 0; i < count; ++i) {
    copy(i * width, physical, width);
    for (int64_t d = rank; d-- > 0;) {
      physical += strides[d];
      if (++index[d] < shape.size(d)) break;
      physical -= strides[d] * index[d];
      index[d] = 0;
    }
  }
}

// Elements of less than a byte: the bits above the element are ignored, and a dense literal sign-extends.
void NormalizeNarrow(ElementType type, std::span<std::byte> bytes) {
  const int bits = Bits(type);
  if (bits >= 8 || type == ElementType::kPred) return;
  for (std::byte& byte : bytes) {
    const auto low = static_cast<uint8_t>(static_cast<uint8_t>(byte) & ((1u << bits) - 1));
    const bool negative = IsSignedIntegral(type) && (low >> (bits - 1)) != 0;
    byte = static_cast<std::byte>(negative ? low | (0xffu << bits) : low);
  }
}

absl::Status ReadDynamicSizes(const pb::LiteralProto& message, Literal* literal) {
  const Shape& shape = literal->shape();
  if (message.dynamic_sizes().empty()) return absl::OkStatus();
  if (message.dynamic_sizes_size() != shape.rank()) {
    return InvalidProgram(
        {}, fmt::format("literal: dynamic_sizes has {}, want {} for {}",
                        Counted(message.dynamic_sizes_size(), "entry"), shape.rank(), shape.ToString()));
  }
  for (int d = 0; d < message.dynamic_sizes_size(); ++d) {
    if (!shape.is_dynamic(d)) continue;
    const int64_t size = message.dynamic_sizes(d);
    if (size < 0 || size > shape.size(d)) {
      return InvalidProgram(
          {}, fmt::format("literal: dynamic_sizes[{}] is {}, want 0 to {}", d, size, shape.size(d)));
    }
    literal->set_dynamic_size(d, size);
  }
  literal->ClearDeadElements();
  return absl::OkStatus();
}

absl::StatusOr<Literal> ArrayLiteralFrom(Shape shape, const pb::LiteralProto& message) {
  if (shape.HasUnbounded()) {
    return InvalidProgram({}, fmt::format("literal: shape {} is unbounded", shape.ToString()));
  }
  const Elements elements = ElementsOf(shape.element_type(), message);
  const auto width = static_cast<size_t>(Bytes(shape.element_type()));
  const auto wanted = static_cast<size_t>(shape.num_bytes());
  if (elements.bytes.size() != wanted) {  // before the shape's size is believed
    return InvalidProgram({}, fmt::format("literal {}: {} has {} of {}, want {}", shape.ToString(),
                                          elements.field, Counted(elements.bytes.size() / width, "element"),
                                          Counted(width, "byte"), wanted / width));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal,
                         Literal::Make(std::make_shared<const Shape>(std::move(shape)), nullptr,
                                       /*zero=*/false));
  const std::span<std::byte> bytes = literal.MutableBytes();
  ForEachElement(literal.shape(), [&](int64_t logical, int64_t physical, int64_t size) {
    std::memcpy(bytes.data() + logical, elements.bytes.data() + physical, size);
  });
  NormalizeNarrow(literal.shape().element_type(), bytes);
  ASSAY_RETURN_IF_ERROR(ReadDynamicSizes(message, &literal));
  return literal;
}

}  // namespace

absl::StatusOr<Literal> LiteralFrom(const pb::LiteralProto& message, int depth) {
  if (depth > kMaxNesting) return ProgramLimitExceeded({}, "the nesting of a literal", depth, kMaxNesting);
  if (!message.has_shape()) return InvalidProgram({}, "literal: the shape is missing");
  ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFrom(message.shape()));
  if (shape.IsArray()) return ArrayLiteralFrom(std::move(shape), message);
  if (shape.IsBuffer()) return InvalidProgram({}, "literal: a buffer has no value");
  if (!shape.IsTuple()) return Literal::Make(shape);
  const auto count = static_cast<int>(shape.elements().size());
  if (message.tuple_literals_size() != count) {
    return InvalidProgram(
        {}, fmt::format("literal: tuple_literals has {}, but its shape has {}",
                        Counted(message.tuple_literals_size(), "entry"), Counted(count, "element")));
  }
  std::vector<Literal> elements;
  for (int i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal element, LiteralFrom(message.tuple_literals(i), depth + 1));
    if (!Shape::Compatible(element.shape(), shape.element(i))) {
      return InvalidProgram({}, fmt::format("literal: element {} is {}, but the shape says {}", i,
                                            element.shape().ToString(), shape.element(i).ToString()));
    }
    elements.push_back(std::move(element));
  }
  return Literal::Tuple(std::make_shared<const Shape>(std::move(shape)), std::move(elements));
}

absl::Status WriteLiteral(const Literal& literal, pb::LiteralProto* message) {
  const Shape& shape = literal.shape();
  ASSAY_RETURN_IF_ERROR(WriteShape(shape, message->mutable_shape()));
  for (int64_t i = 0; i < literal.tuple_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(WriteLiteral(literal.element(i), message->add_tuple_literals()));
  }
  if (!shape.IsArray()) return absl::OkStatus();
  std::string bytes(literal.bytes().size(), '\0');
  ForEachElement(shape, [&](int64_t logical, int64_t physical, int64_t size) {
    std::memcpy(bytes.data() + physical, literal.data() + logical, size);
  });
  const int bits = Bits(shape.element_type());
  if (bits < 8 && shape.element_type() != ElementType::kPred) {
    for (char& byte : bytes) byte = static_cast<char>(static_cast<uint8_t>(byte) & ((1u << bits) - 1));
  }
  SetElements(shape.element_type(), std::move(bytes), message);
  if (shape.HasDynamic()) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t size = literal.dynamic_size(d);
      if (size > std::numeric_limits<int32_t>::max())
        return NotSupported(
            {}, fmt::format("writing a literal with run-time size {}: it has more than 32 bits", size));
      message->add_dynamic_sizes(static_cast<int32_t>(size));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::proto
