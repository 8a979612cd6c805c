#include "custom/xla/call_config.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "fmt/format.h"

namespace assay::custom {
namespace {

std::string CamelCase(std::string_view name) {
  std::string camel;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_') {
      camel += name[i];
    } else if (i + 1 < name.size()) {
      const char next = name[++i];
      camel += static_cast<char>(next >= 'a' && next <= 'z' ? next - 'a' + 'A' : next);
    }
  }
  return camel;
}

template <typename T>
std::optional<T> NumberIn(std::string_view text) {
  T value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || last != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// 1.0 is an integer, too.
std::optional<int64_t> IntOf(const ConfigValue& value) {
  if (const ConfigInt* const number = std::get_if<ConfigInt>(&value.value)) {
    if (number->type == ElementType::kU64 && number->value < 0) return std::nullopt;  // 2^63 and more
    return number->value;
  }
  if (const std::string* const text = std::get_if<std::string>(&value.value)) return NumberIn<int64_t>(*text);
  if (const ConfigFloat* const number = std::get_if<ConfigFloat>(&value.value)) {
    constexpr double kLimit = 9007199254740992;  // 2^53: up to there doubles have no gaps
    if (number->value == std::floor(number->value) && std::abs(number->value) <= kLimit)
      return static_cast<int64_t>(number->value);
  }
  return std::nullopt;
}

std::optional<double> NumberOf(const ConfigValue& value) {
  if (const ConfigFloat* const number = std::get_if<ConfigFloat>(&value.value)) return number->value;
  if (const ConfigInt* const number = std::get_if<ConfigInt>(&value.value)) {
    return number->type == ElementType::kU64 ? static_cast<double>(static_cast<uint64_t>(number->value))
                                             : static_cast<double>(number->value);
  }
  if (const std::string* const text = std::get_if<std::string>(&value.value)) {
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    return NumberIn<double>(*text);
  }
  return std::nullopt;
}

std::optional<std::string> WordOf(const ConfigValue& value) {
  if (const std::string* const text = std::get_if<std::string>(&value.value)) return *text;
  if (const ConfigInt* const number = std::get_if<ConfigInt>(&value.value))
    return fmt::format("{}", number->value);
  return std::nullopt;
}

std::string Shown(const ConfigValue& value) {
  ConfigDictionary alone;
  alone.emplace_back("v", value);
  std::string text = ConfigText(alone);  // {v = …}, or {v} for true
  const size_t begin = text.find("= ");
  text = begin == std::string::npos ? "true" : text.substr(begin + 2, text.size() - begin - 3);
  constexpr size_t kMost = 60;
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

// A JSON object opens with a brace and a quote, or closes at once.
bool IsJson(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t brace = text.find_first_not_of(kSpace);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const size_t next = text.find_first_not_of(kSpace, brace + 1);
  return next == std::string_view::npos || text[next] == '"' || text[next] == '}';
}

}  // namespace

absl::StatusOr<CallConfig> CallConfig::Of(const Instruction& call) {
  if (call.extras == nullptr) return CallConfig({}, "");
  const std::string& text = call.extras->backend_config.text;
  absl::StatusOr<ConfigDictionary> fields =
      IsJson(text) ? ParseJsonConfig(text) : ParseConfigDictionary(text);
  if (!fields.ok()) return WithPrefix(fields.status(), "backend_config");
  return CallConfig(*std::move(fields), "");
}

const ConfigValue* CallConfig::Find(std::string_view name) const {
  const std::string camel = CamelCase(name);
  for (const ConfigEntry& field : fields_) {
    if (field.first == name || field.first == camel) return &field.second;
  }
  return nullptr;
}

absl::Status CallConfig::Wrong(std::string_view name, const ConfigValue& found,
                               std::string_view wanted) const {
  return InvalidProgram(
      {}, fmt::format("backend_config has {}{} = {}, wanted {}", path_, name, Shown(found), wanted));
}

absl::StatusOr<bool> CallConfig::Bool(std::string_view name, bool absent) const {
  const ConfigValue* const value = Find(name);
  if (value == nullptr) return absent;
  if (const bool* const found = std::get_if<bool>(&value->value)) return *found;
  return Wrong(name, *value, "true or false");
}

absl::StatusOr<int64_t> CallConfig::Int(std::string_view name, int64_t absent) const {
  const ConfigValue* const value = Find(name);
  if (value == nullptr) return absent;
  if (const std::optional<int64_t> found = IntOf(*value)) return *found;
  return Wrong(name, *value, "an integer of 64 bits");
}

absl::StatusOr<double> CallConfig::Number(std::string_view name, double absent) const {
  const ConfigValue* const value = Find(name);
  if (value == nullptr) return absent;
  if (const std::optional<double> found = NumberOf(*value)) return *found;
  return Wrong(name, *value, "a number");
}

absl::StatusOr<std::string> CallConfig::Word(std::string_view name, std::string_view absent) const {
  const ConfigValue* const value = Find(name);
  if (value == nullptr) return std::string(absent);
  if (std::optional<std::string> found = WordOf(*value)) return *std::move(found);
  return Wrong(name, *value, "a name");
}

absl::StatusOr<Ints> CallConfig::List(std::string_view name) const {
  const ConfigValue* const value = Find(name);
  Ints numbers;
  if (value == nullptr) return numbers;
  const ConfigList* const list = std::get_if<ConfigList>(&value->value);
  if (list == nullptr) return Wrong(name, *value, "a list of integers");
  for (const ConfigValue& element : *list) {
    const std::optional<int64_t> number = IntOf(element);
    if (!number) return Wrong(name, *value, "a list of integers");
    numbers.push_back(*number);
  }
  return numbers;
}

absl::StatusOr<std::vector<std::string>> CallConfig::Words(std::string_view name) const {
  const ConfigValue* const value = Find(name);
  std::vector<std::string> words;
  if (value == nullptr) return words;
  const ConfigList* const list = std::get_if<ConfigList>(&value->value);
  if (list == nullptr) return Wrong(name, *value, "a list of names");
  for (const ConfigValue& element : *list) {
    std::optional<std::string> word = WordOf(element);
    if (!word) return Wrong(name, *value, "a list of names");
    words.push_back(*std::move(word));
  }
  return words;
}

absl::StatusOr<CallConfig> CallConfig::Message(std::string_view name) const {
  const ConfigValue* const value = Find(name);
  std::string path = fmt::format("{}{}.", path_, name);
  if (value == nullptr) return CallConfig({}, std::move(path));
  if (const ConfigDictionary* const fields = std::get_if<ConfigDictionary>(&value->value))
    return CallConfig(*fields, std::move(path));
  return Wrong(name, *value, "a message");
}

}  // namespace assay::custom
