#include "custom/spec_reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/quoted.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

bool IsUpper(char c) { return absl::ascii_isupper(c); }
bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_'; }
bool IsNumberChar(char c) { return IsWordChar(c) || c == '.' || c == '+' || c == '-'; }

constexpr std::string_view kEscapes[] = {"\\\\", "''", "n\n", "r\r", "t\t"};

}  // namespace

bool SpecReader::AtEnd() {
  SkipSpace();
  return TextCursor::AtEnd();
}

char SpecReader::Peek() {
  SkipSpace();
  return TextCursor::Peek();
}

std::string_view SpecReader::Word() {
  SkipSpace();
  return TakeWhile(IsWordChar);
}

std::string_view SpecReader::Number() {
  SkipSpace();
  return TakeWhile(IsNumberChar);
}

absl::StatusOr<std::string> SpecReader::QuotedString() {
  if (!Eat("'")) return Wanted("a string, as 'foo'");
  std::string value;
  while (!Take('\'')) {
    if (TextCursor::AtEnd()) return InvalidProgram({}, "a string is not closed, wanted \"'\" at its end");
    const char c = TextCursor::Peek();
    Skip();
    if (c != '\\') {
      value += c;
      continue;
    }
    const std::string_view escape = rest();
    const auto* const known = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                           [&](std::string_view e) { return escape.starts_with(e[0]); });
    if (known != std::end(kEscapes)) {
      value += (*known)[1];
      Skip();
    } else if (escape.size() >= 3 && escape[0] == 'x' && HexDigitValue(escape[1]) >= 0 &&
               HexDigitValue(escape[2]) >= 0) {
      value += static_cast<char>(HexDigitValue(escape[1]) * 16 + HexDigitValue(escape[2]));
      Skip(3);
    } else {
      return InvalidProgram({},
                            fmt::format("found the escape {}, wanted one of \\\\, \\', \\n, \\r, \\t, \\xNN",
                                        ShownText("\\" + std::string(escape.substr(0, 1)))));
    }
  }
  return value;
}

std::string SpecReader::Found() {
  if (AtEnd()) return "the end of the text";
  const std::string_view number = TextCursor(rest()).TakeWhile(IsNumberChar);
  return ShownText(number.empty() ? rest().substr(0, 1) : number);
}

absl::Status SpecReader::Wanted(std::string_view what) {
  return InvalidProgram({}, fmt::format("found {}, wanted {}", Found(), what));
}

std::string QuoteText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    const auto* const escape =
        std::find_if(std::begin(kEscapes), std::end(kEscapes), [&](std::string_view e) { return e[1] == c; });
    if (escape != std::end(kEscapes)) {
      quoted += '\\';
      quoted += (*escape)[0];
    } else if (absl::ascii_isprint(c)) {
      quoted += c;
    } else {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return quoted + "'";
}

std::string ShownText(std::string_view text) { return assay::ShownText(text, 160); }

bool IsName(std::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text[0]) && std::ranges::all_of(text, IsWordChar);
}

bool IsSnakeCase(std::string_view text) { return IsName(text) && std::ranges::none_of(text, IsUpper); }

}  // namespace assay::custom
