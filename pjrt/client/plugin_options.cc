#include "pjrt/client/plugin_options.h"

#include <charconv>
#include <optional>

#include "absl/strings/str_split.h"
#include "fmt/format.h"

namespace assay::pjrt_client {
namespace {

enum class Reading { kNoNumber, kNumber, kTooLarge };

template <typename T>
Reading ReadNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return Reading::kNoNumber;
  return error == std::errc() ? Reading::kNumber : Reading::kTooLarge;
}

absl::Status TooLarge(std::string_view option, std::string_view type) {
  return BadInput(fmt::format("plugin option {}: the value has no room in {}", option, type));
}

// nullopt: the text between brackets is no list of whole numbers.
std::optional<std::vector<int64_t>> ReadList(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  std::vector<int64_t> values;
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (inside.empty()) return values;
  for (const absl::string_view part : absl::StrSplit(absl::string_view(inside.data(), inside.size()), ',')) {
    int64_t value = 0;
    if (ReadNumber(std::string_view(part.data(), part.size()), value) != Reading::kNumber)
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

bool LooksLikeNumber(std::string_view text) {
  // "inf", "nan" and "infinity" are words.
  return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<PluginOption> ParsePluginOption(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return BadInput(fmt::format("plugin option '{}': want NAME=VALUE", text));
  PluginOption option{std::string(text.substr(0, equals)), {}};
  const std::string_view value = text.substr(equals + 1);
  if (value == "true" || value == "false") {
    option.value = value == "true";
    return option;
  }
  if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
    option.value = std::string(value.substr(1, value.size() - 2));
    return option;
  }
  if (std::optional<std::vector<int64_t>> list = ReadList(value)) {
    option.value = *std::move(list);
    return option;
  }
  option.value = std::string(value);
  if (!LooksLikeNumber(value)) return option;
  int64_t whole = 0;
  const Reading as_whole = ReadNumber(value, whole);
  if (as_whole == Reading::kTooLarge) return TooLarge(text, "int64");
  if (as_whole == Reading::kNumber) {
    option.value = whole;
    return option;
  }
  float number = 0;
  const Reading as_float = ReadNumber(value, number);
  if (as_float == Reading::kTooLarge) return TooLarge(text, "float");
  if (as_float == Reading::kNumber) option.value = number;
  return option;
}

std::vector<pjrt::NamedValue> NamedValuesOf(const std::vector<PluginOption>& options) {
  std::vector<pjrt::NamedValue> values;
  for (const PluginOption& option : options) {
    pjrt::NamedValue named = {};
    named.struct_size = pjrt::kSizeOf<pjrt::NamedValue>;  // in an array, there is no room behind
    named.name = option.name.data();
    named.name_size = option.name.size();
    named.value_size = 1;
    if (const auto* const text = std::get_if<std::string>(&option.value)) {
      named.type = pjrt::NamedValueType::kString;
      named.string_value = text->data();
      named.value_size = text->size();
    } else if (const auto* const whole = std::get_if<int64_t>(&option.value)) {
      named.type = pjrt::NamedValueType::kInt64;
      named.int64_value = *whole;
    } else if (const auto* const list = std::get_if<std::vector<int64_t>>(&option.value)) {
      named.type = pjrt::NamedValueType::kInt64List;
      named.int64_array_value = list->data();
      named.value_size = list->size();
    } else if (const auto* const number = std::get_if<float>(&option.value)) {
      named.type = pjrt::NamedValueType::kFloat;
      named.float_value = *number;
    } else {
      named.type = pjrt::NamedValueType::kBool;
      named.bool_value = std::get<bool>(option.value);
    }
    values.push_back(named);
  }
  return values;
}

}  // namespace assay::pjrt_client
