#include "custom/spec_reader.h"

#include <algorithm>

#include "fmt/format.h"

namespace assay::custom {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDecimal(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) { return IsLower(c) || IsUpper(c) || IsDecimal(c) || c == '_'; }
bool IsNumberChar(char c) { return IsWordChar(c) || c == '.' || c == '+' || c == '-'; }
bool IsPrintable(char c) { return c >= 0x20 && c < 0x7f; }

// The value of a hexadecimal digit; -1: it is none.
int DigitValue(char c) {
  if (IsDecimal(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

constexpr std::string_view kEscapes[] = {"\\\\", "''", "n\n", "r\r", "t\t"};

}  // namespace

void SpecReader::SkipSpace() {
  position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
}

bool SpecReader::AtEnd() {
  SkipSpace();
  return position_ == text_.size();
}

char SpecReader::Peek() { return AtEnd() ? '\0' : text_[position_]; }

bool SpecReader::Eat(std::string_view token) {
  SkipSpace();
  if (!rest().starts_with(token)) return false;
  position_ += token.size();
  return true;
}

std::string_view SpecReader::Word() {
  SkipSpace();
  const size_t start = position_;
  while (position_ < text_.size() && IsWordChar(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view SpecReader::Number() {
  SkipSpace();
  const size_t start = position_;
  while (position_ < text_.size() && IsNumberChar(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

absl::StatusOr<std::string> SpecReader::QuotedString() {
  if (!Eat("'")) return Wanted("a string, as 'foo'");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '\'') {
    const char c = text_[position_++];
    if (c != '\\') {
      value += c;
      continue;
    }
    const std::string_view escape = rest();
    const auto* const known = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                           [&](std::string_view e) { return escape.starts_with(e[0]); });
    if (known != std::end(kEscapes)) {
      value += (*known)[1];
      position_ += 1;
    } else if (escape.size() >= 3 && escape[0] == 'x' && DigitValue(escape[1]) >= 0 &&
               DigitValue(escape[2]) >= 0) {
      value += static_cast<char>(DigitValue(escape[1]) * 16 + DigitValue(escape[2]));
      position_ += 3;
    } else {
      return InvalidProgram({},
                            fmt::format("found the escape {}, wanted one of \\\\, \\', \\n, \\r, \\t, \\xNN",
                                        ShownText("\\" + std::string(escape.substr(0, 1)))));
    }
  }
  if (position_ == text_.size()) return InvalidProgram({}, "a string is not closed, wanted \"'\" at its end");
  ++position_;
  return value;
}

std::string SpecReader::Found() {
  if (AtEnd()) return "the end of the text";
  size_t end = position_;
  while (end < text_.size() && IsNumberChar(text_[end])) ++end;
  return ShownText(text_.substr(position_, std::max<size_t>(end - position_, 1)));
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
    } else if (IsPrintable(c)) {
      quoted += c;
    } else {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return quoted + "'";
}

std::string ShownText(std::string_view text) {
  constexpr size_t kMost = 160;
  std::string shown = "'";
  for (const char c : text.substr(0, kMost)) {
    shown += IsPrintable(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown + (text.size() > kMost ? "...'" : "'");
}

bool IsName(std::string_view text) {
  return !text.empty() && (IsLower(text[0]) || IsUpper(text[0])) && std::ranges::all_of(text, IsWordChar);
}

bool IsSnakeCase(std::string_view text) { return IsName(text) && std::ranges::none_of(text, IsUpper); }

}  // namespace assay::custom
