// Tokens of MLIR text (docs/spec/stablehlo-text.md section 1).
#include "hlo/mlir/text/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "fmt/format.h"

namespace assay::mlir {
namespace {

enum : uint8_t { kWordStart = 1, kDigit = 2, kWordRest = 4, kSuffixRest = 8, kHexDigit = 16 };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    uint8_t bits = 0;
    if (letter) bits |= kWordStart;
    if (digit) bits |= kDigit;
    if (hex) bits |= kHexDigit;
    if (letter || digit || c == '$' || c == '.') bits |= kWordRest;
    if (letter || digit || c == '$' || c == '.' || c == '-') bits |= kSuffixRest;
    classes[c] = bits;
  }
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();
bool Is(char c, uint8_t bits) { return (kClasses[static_cast<unsigned char>(c)] & bits) != 0; }

}  // namespace

std::string Unescape(std::string_view body) {
  std::string text;
  text.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 >= body.size()) {
      text += body[i];
      continue;
    }
    const char c = body[++i];
    if (c == 'n') {
      text += '\n';
    } else if (c == 't') {
      text += '\t';
    } else if (Is(c, kHexDigit) && i + 1 < body.size() && Is(body[i + 1], kHexDigit)) {
      text += static_cast<char>(HexValue(c) * 16 + HexValue(body[i + 1]));
      ++i;
    } else {
      text += c;
    }
  }
  return text;
}

SourcePosition Lexer::PositionOf(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const size_t last = before.rfind('\n');
  return {static_cast<int32_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int32_t>(last == std::string_view::npos ? offset : offset - last - 1) + 1};
}

void Lexer::ContinueAt(size_t offset) {
  // No further than the offset: a line may be as long as the file.
  const std::string_view passed = text_.substr(0, offset);
  for (size_t at = passed.find('\n', cursor_); at != passed.npos; at = passed.find('\n', at + 1)) {
    ++line_;
    line_start_ = at + 1;
  }
  cursor_ = offset;
  Next();
}

void Lexer::SkipSpace() {
  while (cursor_ < text_.size()) {
    const char c = text_[cursor_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++cursor_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++cursor_;
    } else if (c == '/' && At(cursor_ + 1) == '/') {
      cursor_ = std::min(text_.find('\n', cursor_), text_.size());
    } else {
      return;
    }
  }
}

void Lexer::Fail(std::string_view message) {
  error_ = InvalidProgram(position(), message);
  token_ = {};
  token_.kind = Tok::kError;
  cursor_ = begin_;
}

void Lexer::Finish(Tok kind, size_t end, size_t skip) {
  token_.kind = kind;
  token_.text = text_.substr(begin_ + skip, end - begin_ - skip);
  cursor_ = end;
}

void Lexer::Next() {
  if (token_.kind == Tok::kError) return;
  SkipSpace();
  begin_ = cursor_;
  token_ = {};
  if (cursor_ >= text_.size()) return;
  const char c = text_[cursor_];
  size_t end = cursor_ + 1;
  if (Is(c, kWordStart)) {
    while (Is(At(end), kWordRest)) ++end;
    Finish(Tok::kWord, end);
  } else if (c == '%') {
    LexValue();
  } else if (Is(c, kDigit)) {
    LexNumber();
  } else if (c == '"') {
    LexString();
  } else if (c == '@') {
    LexSymbol();
  } else if (c == '^' || c == '!' || (c == '#' && At(end) != '-')) {
    const uint8_t rest = c == '^' ? kSuffixRest : kWordRest;
    while (Is(At(end), rest)) ++end;
    if (end == begin_ + 1) return Fail(fmt::format("found '{}' without a name", c));
    Finish(c == '^' ? Tok::kBlock : c == '!' ? Tok::kBang : Tok::kHash, end, 1);
  } else {
    LexPunct();
  }
}

void Lexer::LexPunct() {
  const std::string_view rest = text_.substr(begin_, 3);
  if (rest.starts_with("->")) return Finish(Tok::kArrow, begin_ + 2);
  if (rest.starts_with("::")) return Finish(Tok::kColonColon, begin_ + 2);
  if (rest == "{-#") return Finish(Tok::kOpenMeta, begin_ + 3);
  if (rest == "#-}") return Finish(Tok::kCloseMeta, begin_ + 3);
  const char c = text_[begin_];
  if (c < 0x20 || c > 0x7e || c == '#')
    return Fail(fmt::format("found a character '{}' that starts nothing", c));
  token_.punct = c;
  Finish(Tok::kPunct, begin_ + 1);
}

// %name or %12, and the result that is meant: %0#1.
void Lexer::LexValue() {
  size_t end = begin_ + 1;
  if (Is(At(end), kDigit)) {
    while (Is(At(end), kDigit)) ++end;
  } else {
    while (Is(At(end), kSuffixRest)) ++end;
  }
  if (end == begin_ + 1) return Fail("found '%' without a name");
  Finish(Tok::kValue, end, 1);
  if (At(end) != '#' || !Is(At(end + 1), kDigit)) return;
  const char* const first = text_.data() + end + 1;
  const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), token_.integer);
  if (error != std::errc()) return Fail("found a result number that is too large");
  cursor_ = static_cast<size_t>(last - text_.data());
}

void Lexer::LexSymbol() {
  size_t end = begin_ + 1;
  if (At(end) == '"') {
    ++cursor_;
    const size_t at = begin_++;
    LexString();
    if (token_.kind == Tok::kError) return;
    begin_ = at;
    return Finish(Tok::kSymbol, cursor_, 1);
  }
  while (Is(At(end), kSuffixRest)) ++end;
  if (end == begin_ + 1) return Fail("found '@' without a name");
  Finish(Tok::kSymbol, end, 1);
}

// [0-9]+, 0x[0-9a-fA-F]+, [0-9]+ '.' [0-9]* ([eE][-+]?[0-9]+)?
void Lexer::LexNumber() {
  size_t end = begin_ + 1;
  if (text_[begin_] == '0' && At(end) == 'x' && Is(At(end + 1), kHexDigit)) {
    end += 2;
    while (Is(At(end), kHexDigit)) ++end;
    return Finish(Tok::kHex, end);
  }
  while (Is(At(end), kDigit)) ++end;
  if (At(end) != '.') return Finish(Tok::kInt, end);
  ++end;
  while (Is(At(end), kDigit)) ++end;
  if (At(end) == 'e' || At(end) == 'E') {
    const size_t digits = end + (At(end + 1) == '-' || At(end + 1) == '+' ? 2 : 1);
    if (Is(At(digits), kDigit)) {
      end = digits;
      while (Is(At(end), kDigit)) ++end;
    }
  }
  Finish(Tok::kFloat, end);
}

void Lexer::LexString() {
  size_t end = begin_ + 1;
  bool escapes = false;
  for (;; ++end) {
    const char c = At(end);
    if (c == '"') break;
    if (end >= text_.size() || c == '\n') return Fail("found a string without its closing '\"'");
    if (c != '\\') continue;
    escapes = true;
    const char next = At(end + 1);
    const bool known = next == '"' || next == '\\' || next == 'n' || next == 't';
    if (!known && !(Is(next, kHexDigit) && Is(At(end + 2), kHexDigit))) {
      return Fail("found an unknown escape in a string, want \\\\, \\\", \\n, \\t or \\HH");
    }
    ++end;
  }
  Finish(Tok::kString, end + 1);
  token_.text = text_.substr(begin_ + 1, end - begin_ - 1);
  token_.has_escapes = escapes;
}

}  // namespace assay::mlir
