// The strict JSON of RFC 8259: one object. What no attribute can be (null) is refused.
#include <charconv>

#include "custom/config_cursor.h"
#include "custom/config_dictionary.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : in_(text) {}

  absl::StatusOr<ConfigDictionary> Run() {
    ConfigDictionary dictionary;
    in_.SkipSpace();
    if (in_.AtEnd()) return dictionary;
    ASSAY_RETURN_IF_ERROR(Object(dictionary));
    in_.SkipSpace();
    if (!in_.AtEnd()) return in_.Unexpected("the end behind the object");
    return dictionary;
  }

 private:
  absl::Status Object(ConfigDictionary& dictionary) {
    HashSet<std::string> names;
    return in_.List('{', '}', [&]() -> absl::Status {
      in_.SkipSpace();
      const size_t at = in_.at();
      std::string name;
      ASSAY_RETURN_IF_ERROR(String(name));
      ASSAY_RETURN_IF_ERROR(ConfigCursor::AddField(at, std::move(name), names, dictionary));
      ASSAY_RETURN_IF_ERROR(in_.Expect(':'));
      return Value(dictionary.back().second);
    });
  }

  absl::Status Value(ConfigValue& value) {
    in_.SkipSpace();
    const char c = in_.Peek();
    if (c == '{') return Object(value.value.emplace<ConfigDictionary>());
    if (c == '"') return String(value.value.emplace<std::string>());
    if (c == '-' || IsDigit(c)) return Number(value);
    if (c == '[') {
      ConfigList& list = value.value.emplace<ConfigList>();
      return in_.List('[', ']', [&] { return Value(list.emplace_back()); });
    }
    const size_t at = in_.at();
    const std::string_view word = in_.Word();
    if (word == "true" || word == "false") {
      value.value = word == "true";
      return absl::OkStatus();
    }
    in_.GoTo(at);
    if (word == "null") return ConfigCursor::Error(at, "found null, which no attribute can be");
    return in_.Unexpected("a value");
  }

  // One without fraction and exponent is an integer; from 2^63 on an unsigned one.
  absl::Status Number(ConfigValue& value) {
    const size_t begin = in_.at();
    if (in_.Peek() == '-') in_.Skip();
    if (!IsDigit(in_.Peek())) return in_.Unexpected("a digit");
    if (in_.Peek() == '0' && IsDigit(in_.Peek(1)))
      return ConfigCursor::Error(begin, "a number with a leading 0");
    in_.TakeDigits();
    bool is_float = false;
    if (in_.Peek() == '.') {
      is_float = true;
      in_.Skip();
      if (!IsDigit(in_.Peek())) return in_.Unexpected("a digit");
      in_.TakeDigits();
    }
    if (in_.Peek() == 'e' || in_.Peek() == 'E') {
      is_float = true;
      in_.Skip();
      if (in_.Peek() == '-' || in_.Peek() == '+') in_.Skip();
      if (!IsDigit(in_.Peek())) return in_.Unexpected("a digit");
      in_.TakeDigits();
    }
    const std::string_view text = in_.From(begin);
    const char* const end = text.data() + text.size();
    if (is_float) {
      ConfigFloat& number = value.value.emplace<ConfigFloat>();
      if (std::from_chars(text.data(), end, number.value).ec == std::errc()) return absl::OkStatus();
      return ConfigCursor::Error(begin, "the number does not fit in f64");
    }
    ConfigInt& number = value.value.emplace<ConfigInt>();
    if (std::from_chars(text.data(), end, number.value).ec == std::errc()) return absl::OkStatus();
    uint64_t large = 0;
    if (text[0] == '-' || std::from_chars(text.data(), end, large).ec != std::errc())
      return ConfigCursor::Error(begin, "the integer does not fit in 64 bits");
    number = {ElementType::kU64, static_cast<int64_t>(large)};
    return absl::OkStatus();
  }

  absl::Status String(std::string& text) {
    const size_t begin = in_.at();
    ASSAY_RETURN_IF_ERROR(in_.Expect('"'));
    while (!in_.AtEnd() && in_.Peek() != '"') {
      const char c = in_.Peek();
      if (static_cast<unsigned char>(c) < 0x20)
        return in_.Unexpected("an escape: control characters stand as \\u");
      in_.Skip();
      if (c != '\\') {
        text += c;
      } else {
        ASSAY_RETURN_IF_ERROR(Escape(text));
      }
    }
    if (in_.AtEnd()) return ConfigCursor::Error(begin, "the string does not end");
    in_.Skip();
    return absl::OkStatus();
  }

  // What stands behind a backslash.
  absl::Status Escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kBytes = "\"\\/\b\f\n\r\t";
    const char c = in_.Peek();
    if (const size_t found = kLetters.find(c); !in_.AtEnd() && found != std::string_view::npos) {
      text += kBytes[found];
      in_.Skip();
      return absl::OkStatus();
    }
    if (c != 'u') return in_.Unexpected("one of \"\\/bfnrtu behind a backslash");
    const size_t at = in_.at();
    uint32_t code = 0, low = 0;
    ASSAY_RETURN_IF_ERROR(Unit(code));
    if (code >= 0xD800 && code < 0xE000) {  // the first half of a pair
      if (in_.Peek() == '\\') {
        in_.Skip();
        ASSAY_RETURN_IF_ERROR(Unit(low));
      }
      if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
        return ConfigCursor::Error(at, "half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(code, text);
    return absl::OkStatus();
  }

  // u and four hexadecimal digits.
  absl::Status Unit(uint32_t& unit) {
    if (in_.Peek() != 'u') return in_.Unexpected("u and four hexadecimal digits");
    in_.Skip();
    const size_t begin = in_.at();
    for (int i = 0; i < 4 && !in_.AtEnd(); ++i) in_.Skip();
    const std::string_view digits = in_.From(begin);
    const char* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, unit, 16);
    if (digits.size() == 4 && last == end && error == std::errc()) return absl::OkStatus();
    return ConfigCursor::Error(begin, "want four hexadecimal digits");
  }

  static void AppendUtf8(uint32_t code, std::string& text) {
    if (code < 0x80) {
      text += static_cast<char>(code);
      return;
    }
    const int rest = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes behind the first
    const uint32_t mark = rest == 1 ? 0xC0 : rest == 2 ? 0xE0 : 0xF0;
    text += static_cast<char>(mark | (code >> (6 * rest)));
    for (int i = rest; i-- > 0;) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  }

  ConfigCursor in_;
};

}  // namespace

absl::StatusOr<ConfigDictionary> ParseJsonConfig(std::string_view text) { return JsonReader(text).Run(); }

}  // namespace assay::custom
