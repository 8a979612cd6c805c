#include "custom/attr_config.h"

#include <cmath>

#include "custom/spec_reader.h"
#include "custom/value_text.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr std::string_view kWanted[] = {
    "a string",
    "an integer of s64's range",
    "a number of f32's range",
    "true or false",
    "an element type, as f32 or \"f32\"",
    "a shape, as \"[2,?]\", \"?\" or a list of sizes of at least 0",
    "a tensor, as \"s32[2] {1, 2}\" or array<i32: 1, 2>",
};

// What is left out where the entry can't be of the kind.
using MaybeValue = std::optional<OpAttrValue>;

MaybeValue IntOf(const ConfigValue& entry) {
  const auto* number = std::get_if<ConfigInt>(&entry.value);
  if (number == nullptr || number->type == ElementType::kPred) return std::nullopt;
  if (IsUnsignedIntegral(number->type) && number->value < 0) return std::nullopt;  // a u64 above s64's range
  return OpAttrValue{number->value};
}

// Rounded once more to f32; a finite number must stay finite.
MaybeValue FloatOf(double wide) {
  const auto value = static_cast<float>(wide);
  if (std::isfinite(wide) && !std::isfinite(value)) return std::nullopt;
  return OpAttrValue{value};
}

MaybeValue FloatOf(const ConfigValue& entry) {
  if (const auto* number = std::get_if<ConfigFloat>(&entry.value)) return FloatOf(number->value);
  const auto* number = std::get_if<ConfigInt>(&entry.value);
  if (number == nullptr || number->type == ElementType::kPred) return std::nullopt;
  const bool is_unsigned = IsUnsignedIntegral(number->type);
  return OpAttrValue{is_unsigned ? static_cast<float>(static_cast<uint64_t>(number->value))
                                 : static_cast<float>(number->value)};
}

MaybeValue BoolOf(const ConfigValue& entry) {
  if (const auto* flag = std::get_if<bool>(&entry.value)) return OpAttrValue{*flag};
  const auto* number = std::get_if<ConfigInt>(&entry.value);
  if (number == nullptr || number->type != ElementType::kPred) return std::nullopt;
  return OpAttrValue{number->value != 0};
}

MaybeValue TypeOf(const ConfigValue& entry) {
  if (const auto* type = std::get_if<ConfigType>(&entry.value)) return OpAttrValue{type->type};
  const auto* text = std::get_if<std::string>(&entry.value);
  const std::optional<ElementType> type = text == nullptr ? std::nullopt : ElementTypeFromName(*text);
  return type ? MaybeValue(OpAttrValue{*type}) : std::nullopt;
}

// A value in a registration's own form.
MaybeValue FromText(OpAttrKind kind, std::string_view text) {
  SpecReader reader(text);
  absl::StatusOr<OpAttrValue> value = ReadValue(kind, /*is_list=*/false, reader);
  return value.ok() && reader.AtEnd() ? MaybeValue(*std::move(value)) : std::nullopt;
}

// The elements of an array<> as entries of their own; of complex types there are none.
std::optional<ConfigList> ElementsOf(const ConfigValue& entry) {
  if (const auto* list = std::get_if<ConfigList>(&entry.value)) return *list;
  const auto* array = std::get_if<ConfigArray>(&entry.value);
  if (array == nullptr || IsComplex(array->type)) return std::nullopt;
  ConfigList list;
  list.reserve(array->ints.size() + array->floats.size());
  for (const int64_t value : array->ints) list.push_back({ConfigInt{array->type, value}});
  for (const double value : array->floats) list.push_back({ConfigFloat{array->type, value}});
  return list;
}

MaybeValue ShapeOf(const ConfigValue& entry) {
  if (const auto* text = std::get_if<std::string>(&entry.value)) return FromText(OpAttrKind::kShape, *text);
  const std::optional<ConfigList> sizes = ElementsOf(entry);
  if (!sizes) return std::nullopt;
  std::vector<int64_t> dims;
  for (const ConfigValue& size : *sizes) {
    const MaybeValue value = IntOf(size);
    if (!value || std::get<int64_t>(value->value) < 0) return std::nullopt;
    dims.push_back(std::get<int64_t>(value->value));
  }
  return OpAttrValue{PartialShape{std::move(dims)}};
}

MaybeValue TensorOf(const ConfigValue& entry) {
  if (const auto* text = std::get_if<std::string>(&entry.value)) return FromText(OpAttrKind::kTensor, *text);
  const auto* array = std::get_if<ConfigArray>(&entry.value);
  if (array == nullptr || IsComplex(array->type)) return std::nullopt;
  const auto size = static_cast<int64_t>(array->ints.size() + array->floats.size());
  return OpAttrValue{IsFloat(array->type) ? Literal::FromDoubles(array->type, {&size, 1}, array->floats)
                                          : Literal::FromInts(array->type, {&size, 1}, array->ints)};
}

MaybeValue OneOf(OpAttrKind kind, const ConfigValue& entry) {
  switch (kind) {
    case OpAttrKind::kString: {
      const auto* text = std::get_if<std::string>(&entry.value);
      return text == nullptr ? std::nullopt : MaybeValue(OpAttrValue{*text});
    }
    case OpAttrKind::kInt:
      return IntOf(entry);
    case OpAttrKind::kFloat:
      return FloatOf(entry);
    case OpAttrKind::kBool:
      return BoolOf(entry);
    case OpAttrKind::kType:
      return TypeOf(entry);
    case OpAttrKind::kShape:
      return ShapeOf(entry);
    case OpAttrKind::kTensor:
      break;
  }
  return TensorOf(entry);
}

MaybeValue ListOf(OpAttrKind kind, const ConfigValue& entry) {
  const std::optional<ConfigList> elements = ElementsOf(entry);
  if (!elements) return std::nullopt;
  std::vector<OpAttrValue> list;
  for (const ConfigValue& element : *elements) {
    MaybeValue value = OneOf(kind, element);
    if (!value) return std::nullopt;
    list.push_back(*std::move(value));
  }
  return OpAttrValue{std::move(list)};
}

// "{a = 5 : i64}", cut where it is long.
std::string ShownEntry(std::string_view name, const ConfigValue& entry) {
  constexpr size_t kMost = 160;
  const std::string text = ConfigText({{std::string(name), entry}});
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

// '{' and a quoted key, or nothing else.
bool LooksLikeJson(std::string_view text) {
  SpecReader reader(text);
  return reader.Eat("{") && reader.Peek() == '"';
}

ConfigValue EntryOf(const OpAttrValue& value) {
  struct Writer {
    ConfigValue operator()(const std::string& text) const { return {text}; }
    ConfigValue operator()(int64_t number) const { return {ConfigInt{ElementType::kS64, number}}; }
    ConfigValue operator()(float number) const { return {ConfigFloat{ElementType::kF32, number}}; }
    ConfigValue operator()(bool flag) const { return {flag}; }
    ConfigValue operator()(ElementType type) const { return {ConfigType{type}}; }
    ConfigValue operator()(const PartialShape& shape) const { return {ValueText({shape})}; }
    ConfigValue operator()(const Literal& tensor) const { return {ValueText({tensor})}; }
    ConfigValue operator()(const std::vector<OpAttrValue>& list) const {
      ConfigList entries;
      entries.reserve(list.size());
      for (const OpAttrValue& item : list) entries.push_back(EntryOf(item));
      return {std::move(entries)};
    }
  };
  return std::visit(Writer(), value.value);
}

}  // namespace

absl::StatusOr<ConfigDictionary> ReadCallConfig(const Instruction& call) {
  if (call.extras == nullptr) return ConfigDictionary();
  const std::string& text = call.extras->backend_config.text;
  const bool is_typed = call.attributes.Text(Attr::kApiVersion) == "API_VERSION_TYPED_FFI";
  absl::StatusOr<ConfigDictionary> config =
      !is_typed && LooksLikeJson(text) ? ParseJsonConfig(text) : ParseConfigDictionary(text);
  if (!config.ok()) return WithPrefix(config.status(), "backend_config");
  return config;
}

absl::StatusOr<OpAttrValue> ValueOfConfig(const OpAttrDef& attr, const ConfigValue& entry) {
  MaybeValue value = attr.is_list ? ListOf(attr.kind, entry) : OneOf(attr.kind, entry);
  if (value) return *std::move(value);
  return InvalidProgram(
      {}, fmt::format("found {}, wanted {}{}", ShownEntry(attr.name, entry),
                      attr.is_list ? "a list, of each " : "", kWanted[static_cast<size_t>(attr.kind)]));
}

ConfigDictionary ConfigOf(const OpAttrValues& values) {
  ConfigDictionary dictionary;
  for (const auto& [name, value] : values) dictionary.emplace_back(name, EntryOf(value));
  return dictionary;
}

}  // namespace assay::custom
