#include "evaluator/ops/control/call_config.h"

#include <charconv>

#include "base/text_cursor.h"

namespace assay {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The end of the string that starts at `at`, behind its closing quote.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
  return at < text.size() ? at + 1 : text.size();
}

// The first of `stops` at or behind `at` that stands in no string and no bracket;
// the text's size if there is none.
size_t FindOutside(std::string_view text, size_t at, std::string_view stops) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (depth == 0 && stops.find(c) != std::string_view::npos) return at;
    if (c == '"') {
      at = EndOfString(text, at);
      continue;
    }
    depth += c == '{' || c == '[' || c == '(' || c == '<';
    depth -= c == '}' || c == ']' || c == ')' || c == '>';
    ++at;
  }
  return text.size();
}

template <typename T>
std::optional<T> NumberOf(std::optional<std::string_view> field) {
  if (!field) return std::nullopt;
  T value = 0;
  const char* const end = field->data() + field->size();
  const auto [last, error] = std::from_chars(field->data(), end, value);
  if (error != std::errc() || (last != end && *last != ' ' && *last != ':')) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string_view> ConfigField(const Instruction& call, std::string_view name) {
  if (call.extras == nullptr) return std::nullopt;
  std::string_view text = Trimmed(call.extras->backend_config.text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  for (size_t at = 0; at < text.size();) {
    const size_t equals = FindOutside(text, at, "=,");
    const size_t end = FindOutside(text, equals, ",");
    if (equals < end && Trimmed(text.substr(at, equals - at)) == name) {
      return Trimmed(text.substr(equals + 1, end - equals - 1));
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<int64_t> ConfigInteger(const Instruction& call, std::string_view name) {
  return NumberOf<int64_t>(ConfigField(call, name));
}

std::optional<double> ConfigNumber(const Instruction& call, std::string_view name) {
  return NumberOf<double>(ConfigField(call, name));
}

// Escapes are those of MLIR: \\, \", \n, \t and two hexadecimal digits.
std::optional<std::string> ConfigString(const Instruction& call, std::string_view name) {
  const std::optional<std::string_view> field = ConfigField(call, name);
  if (!field || field->empty() || field->front() != '"') return std::nullopt;
  const std::string_view body = field->substr(1, EndOfString(*field, 0) - 2);
  std::string value;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      value += body[i];
      continue;
    }
    const char escaped = body[++i];
    if (i + 1 < body.size() && HexDigitValue(escaped) >= 0 && HexDigitValue(body[i + 1]) >= 0) {
      value += static_cast<char>(HexDigitValue(escaped) * 16 + HexDigitValue(body[++i]));
    } else {
      value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
  }
  return value;
}

}  // namespace assay
