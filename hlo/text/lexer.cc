// The lexer of HLO text. Numbers and words follow the order of trials that docs/spec/hlo-text.md section 1
// gives; the common cases (plain words, plain integers) are decided by the byte that ends them.
#include "hlo/text/lexer.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "shape/element_type.h"

namespace assay {
namespace {

constexpr uint8_t kWordStart = 1, kWordByte = 2, kDigit = 4, kHexDigit = 8;

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kWordStart | kWordByte;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kWordStart | kWordByte;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kWordByte | kDigit | kHexDigit;
  for (int c = 'a'; c <= 'f'; ++c) classes[c] |= kHexDigit;
  for (int c = 'A'; c <= 'F'; ++c) classes[c] |= kHexDigit;
  classes[static_cast<int>('_')] = kWordStart | kWordByte;
  classes[static_cast<int>('.')] = kWordByte;
  classes[static_cast<int>('-')] = kWordByte;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

bool Is(char c, uint8_t classes) { return (kClasses[static_cast<uint8_t>(c)] & classes) != 0; }

// First offset at or after `from` whose byte is not of the class.
size_t SkipClass(std::string_view text, size_t from, uint8_t classes) {
  while (from < text.size() && Is(text[from], classes)) ++from;
  return from;
}

bool IsKeyword(std::string_view word) {
  switch (word[0]) {
    case 't':
      return word == "true";
    case 'f':
      return word == "false";
    case 'i':
      return word == "inf";
    case 'H':
      return word == "HloModule";
    case 'E':
      return word == "ENTRY";
    case 'R':
      return word == "ROOT";
    case 'F':
      return word == "FileNames" || word == "FunctionNames" || word == "FileLocations";
    case 'S':
      return word == "StackFrames";
    case 'm':
      return word == "maximal" || word == "manual";
    case 'r':
      return word == "replicated";
    case 'l':
      return word == "last_tile_dim_replicate";
    case 's':
      return word == "shard_as" || word == "shard_like";
    case 'u':
      return word == "unknown" || word == "unreduced";
    default:
      return false;
  }
}

// Each Match* returns the offset after the longest match that starts at `from`, or npos.
constexpr size_t kNoMatch = std::string_view::npos;

char ByteAt(std::string_view text, size_t offset) { return offset < text.size() ? text[offset] : '\0'; }

// -?(\d+|\d+\.\d*|\d*\.\d+)[eE][+-]?\d+  or  -?(\d+\.\d*|\d*\.\d+)
size_t MatchDecimal(std::string_view text, size_t from) {
  size_t at = from + (ByteAt(text, from) == '-');
  const size_t whole_end = SkipClass(text, at, kDigit);
  const bool whole = whole_end > at;
  at = whole_end;
  bool fraction = false, point = false;
  if (ByteAt(text, at) == '.') {
    const size_t fraction_end = SkipClass(text, at + 1, kDigit);
    fraction = fraction_end > at + 1;
    if (whole || fraction) {
      point = true;
      at = fraction_end;
    }
  }
  if (!whole && !fraction) return kNoMatch;
  if (const char e = ByteAt(text, at); e == 'e' || e == 'E') {
    size_t digits = at + 1;
    if (const char sign = ByteAt(text, digits); sign == '+' || sign == '-') ++digits;
    if (const size_t end = SkipClass(text, digits, kDigit); end > digits) return end;
  }
  return point ? at : kNoMatch;
}

// Dimension labels have a byte for each dimension: looking further would let a text be scanned again and
// again.
constexpr size_t kMaxLabels = 2 * kMaxRank;

size_t SkipBytesOf(std::string_view text, size_t from, std::string_view bytes) {
  const size_t last = from + kMaxLabels;
  while (from < text.size() && from < last && (Is(text[from], kDigit) || bytes.find(text[from]) != kNoMatch))
    ++from;
  return from;
}

// [0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}
size_t MatchDimLabels(std::string_view text, size_t from) {
  size_t at = SkipBytesOf(text, from, "bf?");
  if (at - from < 2 || ByteAt(text, at) != '_') return kNoMatch;
  const size_t kernel = at + 1;
  at = SkipBytesOf(text, kernel, "io?");
  if (at - kernel < 2 || ByteAt(text, at) != '-' || ByteAt(text, at + 1) != '>') return kNoMatch;
  const size_t output = at + 2;
  at = SkipBytesOf(text, output, "bf?");
  return at - output < 2 ? kNoMatch : at;
}

// \d+(x\d+)+
size_t MatchDxD(std::string_view text, size_t from) {
  size_t at = SkipClass(text, from, kDigit);
  if (at == from) return kNoMatch;
  bool any = false;
  while (ByteAt(text, at) == 'x' && Is(ByteAt(text, at + 1), kDigit)) {
    at = SkipClass(text, at + 1, kDigit);
    any = true;
  }
  return any ? at : kNoMatch;
}

// -?\d+_-?\d+(_-?\d+)?, where a negative third number is left to Pad-C4
size_t MatchPadDimension(std::string_view text, size_t from) {
  size_t at = from + (ByteAt(text, from) == '-');
  if (!Is(ByteAt(text, at), kDigit)) return kNoMatch;
  at = SkipClass(text, at, kDigit);
  if (ByteAt(text, at) != '_') return kNoMatch;
  at += 1 + (ByteAt(text, at + 1) == '-');
  if (!Is(ByteAt(text, at), kDigit)) return kNoMatch;
  at = SkipClass(text, at, kDigit);
  if (ByteAt(text, at) != '_') return at;
  const size_t third = at + 1 + (ByteAt(text, at + 1) == '-');
  return Is(ByteAt(text, third), kDigit) ? SkipClass(text, third, kDigit) : at;
}

// PAD: dimensions joined by x
size_t MatchPad(std::string_view text, size_t from) {
  size_t at = MatchPadDimension(text, from);
  if (at == kNoMatch) return kNoMatch;
  while (ByteAt(text, at) == 'x') {
    const size_t next = MatchPadDimension(text, at + 1);
    if (next == kNoMatch) break;
    at = next;
  }
  return at;
}

}  // namespace

bool IsPrimitiveTypeName(std::string_view word) {
  if (word.size() < 2 || word.size() > 14) return false;
  switch (word[0]) {
    case 'p':
      return word == "pred";
    case 't':
      return word == "token";
    case 'o':
      return word == "opaque";
    case 'b':
      return word == "bf16";
    case 's':
    case 'u':
    case 'f':
    case 'c':
      return Is(word[1], kDigit) && ElementTypeFromName(word).has_value();
    default:
      return false;
  }
}

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    token_.kind = TokenKind::kError;
    error_ = ProgramLimitExceeded({}, "size of the program text", static_cast<int64_t>(text.size()),
                                  std::numeric_limits<int32_t>::max());
    return;
  }
  if (const size_t nul = text.find('\0'); nul != kNoMatch) {
    CountLines(0, nul);
    token_.position = PositionAt(nul);
    Fail("found a NUL byte");
    return;
  }
  Next();
}

SourcePosition Lexer::PositionAt(size_t offset) const {
  return {line_, static_cast<int32_t>(offset - line_start_ + 1)};
}

void Lexer::CountLines(size_t from, size_t to) {
  while (from < to) {
    const void* found = std::memchr(text_.data() + from, '\n', to - from);
    if (found == nullptr) return;
    from = static_cast<size_t>(static_cast<const char*>(found) - text_.data()) + 1;
    ++line_;
    line_start_ = from;
  }
}

void Lexer::Fail(std::string_view message) {
  token_.kind = TokenKind::kError;
  error_ = InvalidProgram(token_.position, message);
}

void Lexer::Finish(TokenKind kind, size_t end) {
  token_.kind = kind;
  cursor_ = end;
}

void Lexer::FinishText(TokenKind kind, size_t end, std::string_view text) {
  token_.text = text;
  Finish(kind, end);
}

void Lexer::Next() {
  if (token_.kind == TokenKind::kError) return;
  if (SkipSpace()) LexToken();
}

void Lexer::SkipFromToken(size_t bytes) {
  const size_t end = token_begin_ + bytes;
  ASSAY_CHECK(end <= text_.size());
  // The token's own bytes may hold line breaks only if it is a string: start again from its first byte.
  line_ = token_.position.line;
  line_start_ = token_begin_ - static_cast<size_t>(token_.position.column - 1);
  CountLines(token_begin_, end);
  cursor_ = end;
  token_.kind = TokenKind::kEof;
  Next();
}

bool Lexer::SkipSpace() {
  while (cursor_ < text_.size()) {
    const char c = text_[cursor_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++cursor_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++cursor_;
    } else if (c == '/') {
      token_.position = PositionAt(cursor_);
      token_begin_ = cursor_;
      const char next = At(cursor_ + 1);
      if (next == '/') {
        const size_t end = text_.find('\n', cursor_);
        cursor_ = end == kNoMatch ? text_.size() : end;
      } else if (next == '*') {
        const size_t end = text_.find("*/", cursor_ + 2);
        if (end == kNoMatch) return Fail("comment is not closed: '*/' is missing"), false;
        CountLines(cursor_, end);
        cursor_ = end + 2;
      } else {
        return Fail("found a lone '/', which starts no token"), false;
      }
    } else {
      break;
    }
  }
  return true;
}

void Lexer::LexToken() {
  token_begin_ = cursor_;
  token_.position = PositionAt(cursor_);
  if (cursor_ >= text_.size()) return Finish(TokenKind::kEof, cursor_);
  const char c = text_[cursor_];
  if (Is(c, kWordStart)) return LexWord();
  if (Is(c, kDigit)) return LexNumber();
  switch (c) {
    case '%':
      return LexPercentName();
    case ',':
      return Finish(TokenKind::kComma, cursor_ + 1);
    case '(':
      return Finish(TokenKind::kLeftParen, cursor_ + 1);
    case ')':
      return Finish(TokenKind::kRightParen, cursor_ + 1);
    case '{':
      return Finish(TokenKind::kLeftBrace, cursor_ + 1);
    case '}':
      return Finish(TokenKind::kRightBrace, cursor_ + 1);
    case '[':
      return Finish(TokenKind::kLeftSquare, cursor_ + 1);
    case ']':
      return Finish(TokenKind::kRightSquare, cursor_ + 1);
    case '=':
      return Finish(TokenKind::kEqual, cursor_ + 1);
    case ':':
      return Finish(TokenKind::kColon, cursor_ + 1);
    case '*':
      return Finish(TokenKind::kAsterisk, cursor_ + 1);
    case '#':
      return Finish(TokenKind::kHash, cursor_ + 1);
    case '+':
      return Finish(TokenKind::kPlus, cursor_ + 1);
    case '~':
      return Finish(TokenKind::kTilde, cursor_ + 1);
    case '-':
      return LexMinus();
    case '?':
      return LexNumber();
    case '"':
    case '\'':
      return LexString(c);
    case '<':
      if (At(cursor_ + 1) == '=') return Finish(TokenKind::kLessEqual, cursor_ + 2);
      return Fail("found a lone '<', which starts no token but '<='");
    case '.':
      if (text_.substr(cursor_, 3) == "...") return Finish(TokenKind::kDots, cursor_ + 3);
      return Fail("found a lone '.', which starts no token but '...' (numbers need a digit before it)");
    default:
      break;
  }
  if (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x7f) {
    return Fail(fmt::format("found byte 0x{:02x}, which starts no token", static_cast<uint8_t>(c)));
  }
  Fail(fmt::format("found '{}', which starts no token", c));
}

void Lexer::LexWord() {
  const size_t end = SkipClass(text_, cursor_ + 1, kWordByte);
  const std::string_view word = text_.substr(cursor_, end - cursor_);
  const char after = At(end);
  if (after == ':') return FinishText(TokenKind::kName, end + 1, word);
  if (after == '=') return FinishText(TokenKind::kAttrName, end + 1, word);
  token_.text = word;
  if (IsPrimitiveTypeName(word)) return Finish(TokenKind::kPrimType, end);
  if (word == "nan") {
    cursor_ = end;
    token_.decimal = std::numeric_limits<double>::quiet_NaN();
    if (LexNanPayload()) Finish(TokenKind::kDecimal, cursor_);
    return;
  }
  if (IsKeyword(word)) return Finish(TokenKind::kKeyword, end);
  if (word[0] == 'b' || word[0] == 'f') {
    if (const size_t match = MatchDimLabels(text_, cursor_); match != kNoMatch) {
      return FinishText(TokenKind::kDimLabels, match, text_.substr(cursor_, match - cursor_));
    }
  }
  Finish(TokenKind::kIdent, end);
}

// Takes an optional "(0x...)" right after "nan".
bool Lexer::LexNanPayload() {
  if (At(cursor_) != '(') return true;
  if (text_.substr(cursor_, 3) != "(0x") return true;
  const size_t digits = cursor_ + 3;
  const size_t end = SkipClass(text_, digits, kHexDigit);
  if (end == digits || At(end) != ')') return Fail("NaN payload is not of the form (0x<hex digits>)"), false;
  uint64_t payload = 0;
  const auto result = std::from_chars(text_.data() + digits, text_.data() + end, payload, 16);
  if (result.ec != std::errc() || payload == 0 || payload > 0xFFFFFFFFFFFFFull) {
    return Fail(fmt::format("NaN payload 0x{} is not within 0x1 and 0xfffffffffffff",
                            text_.substr(digits, std::min<size_t>(end - digits, 20)))),
           false;
  }
  cursor_ = end + 1;
  return true;
}

void Lexer::LexPercentName() {
  if (!Is(At(cursor_ + 1), kWordStart)) return Fail("found '%' without a name after it");
  const size_t end = SkipClass(text_, cursor_ + 2, kWordByte);
  FinishText(TokenKind::kName, end, text_.substr(cursor_ + 1, end - cursor_ - 1));
}

void Lexer::LexMinus() {
  const char next = At(cursor_ + 1);
  if (next == '>') return Finish(TokenKind::kArrow, cursor_ + 2);
  if (Is(next, kDigit) || next == '.') return LexNumber();
  const size_t end = SkipClass(text_, cursor_ + 1, kWordByte);
  const std::string_view word = text_.substr(cursor_ + 1, end - cursor_ - 1);
  if (word == "inf") return Finish(TokenKind::kNegInf, end);
  if (word == "nan") {
    cursor_ = end;
    token_.decimal = -std::numeric_limits<double>::quiet_NaN();
    if (LexNanPayload()) Finish(TokenKind::kDecimal, cursor_);
    return;
  }
  Fail("found a lone '-', which starts no token");
}

// The cursor is at a digit, '?', or '-' and a digit or '.'.
void Lexer::LexNumber() {
  size_t digits = cursor_ + (text_[cursor_] == '-');
  const size_t end = SkipClass(text_, digits, kDigit);
  const char after = At(end);
  // What can continue a plain integer into another token.
  const bool plain = end > digits && after != '.' && after != 'e' && after != 'E' && after != 'x' &&
                     after != '_' && after != 'b' && after != 'f' && after != '?';
  if (plain) return FinishInt(end);
  if (const size_t match = MatchDecimal(text_, cursor_); match != kNoMatch) return FinishDecimal(match);
  if (const size_t match = MatchDimLabels(text_, cursor_); match != kNoMatch) {
    return FinishText(TokenKind::kDimLabels, match, text_.substr(cursor_, match - cursor_));
  }
  if (const size_t match = MatchDxD(text_, cursor_); match != kNoMatch) {
    return FinishText(TokenKind::kDxD, match, text_.substr(cursor_, match - cursor_));
  }
  if (const size_t match = MatchPad(text_, cursor_); match != kNoMatch) {
    return FinishText(TokenKind::kPad, match, text_.substr(cursor_, match - cursor_));
  }
  if (end > digits) return FinishInt(end);
  if (text_[cursor_] == '?') return Finish(TokenKind::kQuestion, cursor_ + 1);
  Fail("found '-.', which starts no number");
}

void Lexer::FinishInt(size_t end) {
  const std::string_view spelling = text_.substr(cursor_, end - cursor_);
  const char* const first = spelling.data();
  const char* const last = first + spelling.size();
  bool ok;
  if (spelling[0] == '-') {
    ok = std::from_chars(first, last, token_.integer).ec == std::errc();
  } else {
    uint64_t value = 0;
    ok = std::from_chars(first, last, value).ec == std::errc();
    token_.integer = static_cast<int64_t>(value);
  }
  if (!ok) {
    return Fail(fmt::format("integer {}{} does not fit 64 bits", spelling.substr(0, 40),
                            spelling.size() > 40 ? "..." : ""));
  }
  FinishText(TokenKind::kInt, end, spelling);
}

void Lexer::FinishDecimal(size_t end) {
  const std::string_view spelling = text_.substr(cursor_, end - cursor_);
  const auto result = std::from_chars(spelling.data(), spelling.data() + spelling.size(), token_.decimal);
  if (result.ec == std::errc::result_out_of_range) {
    // from_chars does not say on which side; strtod gives 0, a subnormal or infinity.
    token_.decimal = std::strtod(std::string(spelling).c_str(), nullptr);
  }
  FinishText(TokenKind::kDecimal, end, spelling);
}

void Lexer::LexString(char quote) {
  size_t at = cursor_ + 1;
  token_.has_escapes = false;
  while (at < text_.size() && text_[at] != quote) {
    if (text_[at] == '\\') {
      token_.has_escapes = true;
      ++at;
      if (At(at) == '\n') return Fail("string holds a backslash at the end of a line");
    }
    ++at;
  }
  if (at >= text_.size()) return Fail("string is not closed");
  const std::string_view body = text_.substr(cursor_ + 1, at - cursor_ - 1);
  if (token_.has_escapes) {
    std::string value, why;
    if (!absl::CUnescape(absl::string_view(body.data(), body.size()), &value, &why)) {
      return Fail(fmt::format("string holds a bad escape: {}", why));
    }
  }
  CountLines(cursor_, at);
  FinishText(TokenKind::kString, at + 1, body);
}

std::string Lexer::StringValue() const {
  if (!token_.has_escapes) return std::string(token_.text);
  std::string value;
  absl::CUnescape(absl::string_view(token_.text.data(), token_.text.size()), &value);
  return value;
}

absl::StatusOr<std::string_view> Lexer::TakeJsonDict() {
  int64_t depth = 0;
  for (size_t at = token_begin_; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"') {
      for (++at; at < text_.size() && text_[at] != '"'; ++at) at += text_[at] == '\\';
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      const std::string_view dict = text_.substr(token_begin_, at + 1 - token_begin_);
      SkipFromToken(dict.size());
      return dict;
    }
  }
  return InvalidProgram(token_.position, "dictionary is not closed: '}' is missing");
}

}  // namespace assay
