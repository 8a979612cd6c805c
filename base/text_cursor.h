// A place in a text, for the readers of small languages: what stands there, going past it, and line and
// column for errors. The two grammars (HLO, MLIR) have lexers of their own. What is not a member of the text
// reads as '\0'.
#ifndef ASSAY_BASE_TEXT_CURSOR_H_
#define ASSAY_BASE_TEXT_CURSOR_H_

#include <charconv>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "base/error.h"

namespace assay {

// The place `offset` bytes behind the start of `text`, which starts at `base`.
SourcePosition PositionAt(std::string_view text, size_t offset, SourcePosition base = {1, 1});

// 0 to 15 for a hexadecimal digit, -1 for all else.
inline int HexDigitValue(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  return absl::ascii_isxdigit(c) ? absl::ascii_tolower(c) - 'a' + 10 : -1;
}

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view From(size_t begin) const { return text_.substr(begin, at_ - begin); }
  size_t at() const { return at_; }
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void GoTo(size_t at) { at_ = at; }
  void Skip(size_t bytes = 1) { at_ += bytes; }
  void SkipSpace() {
    while (IsSpace(Peek())) ++at_;
  }
  // Comments of C++ too. False: one is not closed.
  bool SkipSpaceAndComments();

  // Goes past `wanted` if it stands here.
  bool Take(char wanted) {
    if (Peek() != wanted || AtEnd()) return false;
    ++at_;
    return true;
  }
  bool Take(std::string_view wanted) {
    if (!rest().starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  // The same behind space, which it goes past in any case.
  bool TakeNext(auto wanted) {
    SkipSpace();
    return Take(wanted);
  }
  // The longest run of bytes that `is_part` holds for; may be empty.
  template <typename IsPart>
  std::string_view TakeWhile(IsPart is_part) {
    const size_t begin = at_;
    while (!AtEnd() && is_part(text_[at_])) ++at_;
    return From(begin);
  }
  std::string_view TakeDigits() { return TakeWhile(absl::ascii_isdigit); }
  // std::from_chars: an integer with its base, or a float. Goes past what it read where that is a number that
  // fits.
  template <typename Number>
  std::from_chars_result ReadNumber(Number& value, auto... base) {
    const std::from_chars_result result =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, base...);
    if (result.ec == std::errc()) at_ = static_cast<size_t>(result.ptr - text_.data());
    return result;
  }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace assay

#endif  // ASSAY_BASE_TEXT_CURSOR_H_
