#include "custom/c_values.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/checked.h"
#include "fmt/format.h"
#include "hlo/proto/words.h"

namespace assay::custom {
namespace {

AssayText TextOf(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

CAttrs::CAttrs(const OpAttrValues& values) {
  for (const auto& [name, value] : values) {
    AssayAttr attr = Of(value);
    attr.name = TextOf(name);
    attrs_.push_back(attr);
  }
}

AssayAttr CAttrs::Of(const OpAttrValue& value) {
  AssayAttr attr = {};
  std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::string>) {
          attr.kind = ASSAY_ATTR_STRING;
          attr.text = TextOf(v);
        } else if constexpr (std::is_same_v<V, bool>) {
          attr.kind = ASSAY_ATTR_BOOL;
          attr.integer = v ? 1 : 0;
        } else if constexpr (std::is_same_v<V, int64_t>) {
          attr.kind = ASSAY_ATTR_INT;
          attr.integer = v;
        } else if constexpr (std::is_same_v<V, float>) {
          attr.kind = ASSAY_ATTR_FLOAT;
          attr.number = v;
        } else if constexpr (std::is_same_v<V, ElementType>) {
          attr.kind = ASSAY_ATTR_TYPE;
          attr.integer = proto::NumberOf(v);
        } else if constexpr (std::is_same_v<V, PartialShape>) {
          attr.kind = ASSAY_ATTR_SHAPE;
          attr.shape.rank = v.dims ? static_cast<int64_t>(v.dims->size()) : int64_t{ASSAY_UNKNOWN};
          attr.shape.sizes = v.dims ? v.dims->data() : nullptr;
        } else if constexpr (std::is_same_v<V, Literal>) {
          attr.kind = ASSAY_ATTR_TENSOR;
          attr.tensor = CArray(v);
        } else {
          attr.kind = ASSAY_ATTR_LIST;
          std::vector<AssayAttr> items;
          items.reserve(v.size());
          for (const OpAttrValue& item : v) items.push_back(Of(item));
          const std::vector<AssayAttr>& kept = lists_.emplace_back(std::move(items));
          attr.items = kept.data();
          attr.count = kept.size();
        }
      },
      value.value);
  return attr;
}

std::vector<AssayArgument> CArguments(const std::vector<OpArgument>& arguments,
                                      const std::vector<ArgumentRange>& ranges) {
  std::vector<AssayArgument> result;
  for (size_t i = 0; i < arguments.size(); ++i)
    result.push_back({TextOf(arguments[i].name), ranges[i].first, ranges[i].count});
  return result;
}

AssayArray CArray(const Shape& shape) {
  AssayArray array = {};
  if (shape.IsToken() || shape.IsOpaque()) {
    array.kind = shape.IsToken() ? 1 : 2;
    return array;
  }
  const Shape& held = shape.IsBuffer() ? shape.element(0) : shape;
  array.type = proto::NumberOf(held.element_type());
  array.rank = held.rank();
  array.sizes = array.bounds = held.sizes().data();
  array.bytes = held.num_elements() * Bytes(held.element_type());
  return array;
}

AssayArray CArray(const Literal& literal) {
  AssayArray array = CArray(literal.shape());
  // The C side has no const; kernels are told not to write their inputs.
  if (array.kind == 0) array.data = const_cast<std::byte*>(literal.data());
  return array;
}

absl::Status ErrorOf(std::string_view op, int32_t code, AssayText message, bool running) {
  const std::string text = fmt::format("op {}: {}", op, std::string_view(message.data, message.size));
  switch (code) {
    case ASSAY_UNIMPLEMENTED:
      return NotSupported({}, text);
    case ASSAY_INVALID_ARGUMENT:
      return running ? EvalError({}, text) : InvalidProgram({}, text);
    case ASSAY_RESOURCE_EXHAUSTED:
    case ASSAY_FAILED:
    default:
      return EvalError({}, text);
  }
}

absl::StatusOr<int64_t> TemporaryBytes(std::string_view op, AssayType code, int64_t rank,
                                       const int64_t* sizes) {
  const std::optional<ElementType> type = proto::ElementTypeFromNumber(code);
  if (!type || rank < 0) {
    return EvalError(
        {}, fmt::format("op {}: temporary memory of the element type {} and rank {}", op, code, rank));
  }
  int64_t bytes = Bytes(*type);
  for (int64_t d = 0; d < rank && bytes > 0; ++d)
    bytes = sizes[d] < 0 ? -1 : CheckedMul(bytes, sizes[d]).value_or(-1);
  if (bytes >= 0) return bytes;
  return EvalError(
      {}, fmt::format("op {}: temporary memory of {}[{}], wanted sizes of 0 or more and less than 2^63 bytes",
                      op, Name(*type), fmt::join(sizes, sizes + rank, ",")));
}

}  // namespace assay::custom
