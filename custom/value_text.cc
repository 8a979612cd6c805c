#include "custom/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "base/limits.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay::custom {
namespace {

constexpr std::string_view kKindNames[] = {"string", "int", "float", "bool", "type", "shape", "tensor"};

// As a literal of f32, which says how decimals are rounded.
absl::StatusOr<OpAttrValue> ReadFloat(SpecReader& reader) {
  const std::string found = reader.Found();
  const absl::StatusOr<Literal> literal = ParseLiteral(Shape::Scalar(ElementType::kF32), reader.Number());
  if (!literal.ok() && literal.status().message().find("out of range") != absl::string_view::npos) {
    return InvalidProgram({}, fmt::format("found {}, which is out of range, wanted a value of f32", found));
  }
  if (!literal.ok()) return InvalidProgram({}, fmt::format("found {}, wanted a float, as 1.5", found));
  float value = 0;
  std::memcpy(&value, literal->data(), sizeof value);
  return OpAttrValue{value};
}

absl::StatusOr<OpAttrValue> ReadBool(SpecReader& reader) {
  const std::string found = reader.Found();
  const std::string_view word = reader.Word();
  if (word != "true" && word != "false") {
    return InvalidProgram({}, fmt::format("found {}, wanted true or false", found));
  }
  return OpAttrValue{word == "true"};
}

absl::StatusOr<OpAttrValue> ReadType(SpecReader& reader) {
  const std::string found = reader.Found();
  const std::optional<ElementType> type = ElementTypeFromName(reader.Word());
  if (!type) return InvalidProgram({}, fmt::format("found {}, wanted an element type, as f32", found));
  return OpAttrValue{*type};
}

absl::StatusOr<OpAttrValue> ReadShape(SpecReader& reader) {
  if (reader.Eat("?")) return OpAttrValue{PartialShape{}};
  if (!reader.Eat("[")) return reader.Wanted("a shape, as [2,?] or ?");
  std::vector<int64_t> dims;
  while (!reader.Eat("]")) {
    if (!dims.empty() && !reader.Eat(",")) return reader.Wanted("',' or ']' in a shape");
    if (dims.size() == kMaxRank) {
      return InvalidProgram({}, fmt::format("a shape has more than {} sizes", kMaxRank));
    }
    if (reader.Eat("?")) {
      dims.push_back(-1);
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const int64_t size, ReadInt(reader));
    if (size < 0)
      return InvalidProgram({}, fmt::format("found the size {}, wanted one of at least 0, or ?", size));
    dims.push_back(size);
  }
  return OpAttrValue{PartialShape{std::move(dims)}};
}

// A shape without layout, then a literal.
absl::StatusOr<OpAttrValue> ReadTensor(SpecReader& reader) {
  if (reader.Peek() == '\0' || !ElementTypeFromName(SpecReader(reader.rest()).Word())) {
    return reader.Wanted("a tensor, as s32[2] {1, 2}");
  }
  const size_t end = reader.rest().find(']');
  if (end == std::string_view::npos) return InvalidProgram({}, "a tensor's sizes are not closed, wanted ']'");
  const absl::StatusOr<Shape> shape = ParseShape(reader.rest().substr(0, end + 1));
  if (!shape.ok())
    return InvalidProgram({},
                          std::string(shape.status().message()));  // its position is none of the program's
  if (shape->HasDynamic()) {
    return InvalidProgram(
        {}, fmt::format("a tensor has the shape {}, wanted sizes that are all known", shape->ToString()));
  }
  reader.Skip(end + 1);
  size_t consumed = 0;
  absl::StatusOr<Literal> literal = ParseLiteral(*shape, reader.rest(), {}, &consumed);
  if (!literal.ok()) return InvalidProgram({}, std::string(literal.status().message()));
  reader.Skip(consumed);
  return OpAttrValue{*std::move(literal)};
}

absl::StatusOr<OpAttrValue> ReadOne(OpAttrKind kind, SpecReader& reader) {
  switch (kind) {
    case OpAttrKind::kString: {
      ASSAY_ASSIGN_OR_RETURN(std::string text, reader.QuotedString());
      return OpAttrValue{std::move(text)};
    }
    case OpAttrKind::kInt: {
      ASSAY_ASSIGN_OR_RETURN(const int64_t value, ReadInt(reader));
      return OpAttrValue{value};
    }
    case OpAttrKind::kFloat:
      return ReadFloat(reader);
    case OpAttrKind::kBool:
      return ReadBool(reader);
    case OpAttrKind::kType:
      return ReadType(reader);
    case OpAttrKind::kShape:
      return ReadShape(reader);
    case OpAttrKind::kTensor:
      break;
  }
  return ReadTensor(reader);
}

std::string FloatText(float value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  std::string text = ElementToText(ElementType::kF32, std::as_bytes(std::span(&value, 1)).data());
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

std::string ShapeText(const PartialShape& shape) {
  if (!shape.dims) return "?";
  std::string text = "[";
  for (const int64_t size : *shape.dims) {
    if (text.size() > 1) text += ',';
    text += size < 0 ? "?" : fmt::format("{}", size);
  }
  return text + "]";
}

std::string TensorText(const Literal& tensor) {
  return fmt::format("{} {}", tensor.shape().ToString(), LiteralToText(tensor));
}

bool HasKind(const OpAttrValue& value, OpAttrKind kind) {
  return value.value.index() == static_cast<size_t>(kind);  // the variant has the kinds' order
}

// "an int", "a list(int)".
std::string KindOf(const OpAttrValue& value) {
  const auto name = [](const OpAttrValue& v) { return kKindNames[v.value.index()]; };
  if (!value.is_list()) return fmt::format("{} {}", name(value) == "int" ? "an" : "a", name(value));
  const auto& list = std::get<std::vector<OpAttrValue>>(value.value);
  return list.empty() ? "a list" : fmt::format("a list({})", list[0].is_list() ? "list" : name(list[0]));
}

// What a value that is no list, or an element of one, violates of the attribute's set.
std::string SetViolation(const OpAttrDef& attr, const OpAttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value);
      text != nullptr && !attr.strings.empty() && std::ranges::count(attr.strings, *text) == 0) {
    std::vector<std::string> wanted;
    for (const std::string& s : attr.strings) wanted.push_back(QuoteText(s));
    return fmt::format("is none of {}", fmt::join(wanted, ", "));
  }
  if (const auto* type = std::get_if<ElementType>(&value.value);
      type != nullptr && !attr.types.empty() && std::ranges::count(attr.types, *type) == 0) {
    std::vector<std::string_view> wanted;
    for (const ElementType t : attr.types) wanted.push_back(assay::Name(t));
    return fmt::format("is none of {}", fmt::join(wanted, ", "));
  }
  return "";
}

}  // namespace

std::string_view Name(OpAttrKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

absl::StatusOr<int64_t> ReadInt(SpecReader& reader) {
  const std::string found = reader.Found();
  int64_t value = 0;
  const std::string_view word = reader.Number();
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return InvalidProgram({}, fmt::format("found {}, which is out of range, wanted a value of s64", found));
  }
  if (error != std::errc() || stop != end) {
    return InvalidProgram({}, fmt::format("found {}, wanted an integer, as -3", found));
  }
  return value;
}

absl::StatusOr<OpAttrValue> ReadValue(OpAttrKind kind, bool is_list, SpecReader& reader) {
  if (!is_list) return ReadOne(kind, reader);
  if (!reader.Eat("[")) return reader.Wanted(fmt::format("a list of {}s, in brackets", Name(kind)));
  std::vector<OpAttrValue> list;
  while (!reader.Eat("]")) {
    if (!list.empty() && !reader.Eat(",")) return reader.Wanted("',' or ']' in a list");
    ASSAY_ASSIGN_OR_RETURN(OpAttrValue value, ReadOne(kind, reader));
    list.push_back(std::move(value));
  }
  return OpAttrValue{std::move(list)};
}

absl::StatusOr<OpAttrValue> ParseValue(const OpAttrDef& attr, std::string_view text) {
  const std::string context = fmt::format("attr '{}', value {}", attr.name, ShownText(text));
  SpecReader reader(text);
  absl::StatusOr<OpAttrValue> value = ReadValue(attr.kind, attr.is_list, reader);
  if (!value.ok()) return WithPrefix(value.status(), context);
  if (!reader.AtEnd()) return WithPrefix(reader.Wanted("the end of the value"), context);
  return value;
}

std::string ValueText(const OpAttrValue& value) {
  struct Writer {
    std::string operator()(const std::string& text) const { return QuoteText(text); }
    std::string operator()(int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(float number) const { return FloatText(number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(ElementType type) const { return std::string(assay::Name(type)); }
    std::string operator()(const PartialShape& shape) const { return ShapeText(shape); }
    std::string operator()(const Literal& tensor) const { return TensorText(tensor); }
    std::string operator()(const std::vector<OpAttrValue>& list) const {
      std::vector<std::string> items;
      items.reserve(list.size());
      for (const OpAttrValue& item : list) items.push_back(ValueText(item));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
  };
  return std::visit(Writer(), value.value);
}

std::string ShownValue(const OpAttrValue& value) {
  constexpr size_t kMost = 160;
  std::string text = ValueText(value);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

std::string ViolationOf(const OpAttrDef& attr, const OpAttrValue& value) {
  if (!attr.is_list) {
    if (!HasKind(value, attr.kind)) return fmt::format("is {}", KindOf(value));
    const auto* number = std::get_if<int64_t>(&value.value);
    if (number != nullptr && attr.minimum && *number < *attr.minimum) {
      return fmt::format("is less than {}", *attr.minimum);
    }
    return SetViolation(attr, value);
  }
  if (!value.is_list()) return fmt::format("is {}", KindOf(value));
  const auto& list = std::get<std::vector<OpAttrValue>>(value.value);
  for (const OpAttrValue& item : list) {
    if (!HasKind(item, attr.kind)) return fmt::format("has {}", KindOf(item));
    const std::string violation = SetViolation(attr, item);
    if (!violation.empty()) return fmt::format("has {}, which {}", ShownValue(item), violation);
  }
  if (attr.minimum && static_cast<int64_t>(list.size()) < *attr.minimum) {
    return fmt::format("has length {}, less than {}", list.size(), *attr.minimum);
  }
  return "";
}

absl::Status CheckValue(const OpInterface& op, const OpAttrDef& attr, const OpAttrValue& value) {
  const std::string violation = ViolationOf(attr, value);
  if (violation.empty()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("attr '{}' of op {}: value {} {}, wanted {}", attr.name, op.name,
                                        ShownValue(value), violation, ShownText(attr.spec)));
}

}  // namespace assay::custom
