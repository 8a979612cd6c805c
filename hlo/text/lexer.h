// Tokens of HLO text (docs/spec/hlo-text.md section 1). Shapes and literals are read from the raw text by
// shape/shape_text and literal/literal_text; the parser then tells the lexer how far they went.
#ifndef ASSAY_HLO_TEXT_LEXER_H_
#define ASSAY_HLO_TEXT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"

namespace assay {

enum class TokenKind : uint8_t {
  kEof,
  kError,  // Lexer::error() says what is wrong
  kEqual,
  kComma,
  kColon,
  kAsterisk,
  kHash,
  kPlus,
  kTilde,
  kLeftSquare,
  kRightSquare,
  kLeftBrace,
  kRightBrace,
  kLeftParen,
  kRightParen,
  kArrow,      // ->
  kLessEqual,  // <=
  kDots,       // ...
  kQuestion,
  kName,      // %add.1, or add.1 right before ':' (which is swallowed); text without '%' and ':'
  kAttrName,  // dimensions right before '=' (which is swallowed); text without '='
  kPrimType,
  kIdent,
  kKeyword,
  kDimLabels,
  kDxD,
  kPad,
  kInt,
  kDecimal,
  kNegInf,
  kString,  // text is the raw body, without quotes; see Lexer::StringValue
};

struct Token {
  TokenKind kind = TokenKind::kEof;
  bool has_escapes = false;  // kString
  SourcePosition position;
  std::string_view text;
  int64_t integer = 0;  // kInt
  double decimal = 0;   // kDecimal
};

// A lexer is small: copy it to look ahead.
class Lexer {
 public:
  // Lexes the first token.
  explicit Lexer(std::string_view text);

  const Token& token() const { return token_; }
  void Next();
  // The first error; meaningful while the token is kError.
  const absl::Status& error() const { return error_; }

  // The text from the first byte of the current token on.
  std::string_view FromToken() const { return text_.substr(token_begin_); }
  // The source of the current token, with quotes and the like.
  std::string_view Spelling() const { return text_.substr(token_begin_, cursor_ - token_begin_); }
  // Goes on `bytes` after the first byte of the current token.
  void SkipFromToken(size_t bytes);
  // The current token is '{': the raw text up to the matching '}', braces included; lexes what follows.
  absl::StatusOr<std::string_view> TakeJsonDict();
  // The value of the current kString token.
  std::string StringValue() const;

 private:
  void LexToken();
  bool SkipSpace();  // false: error
  void LexWord();
  void LexPercentName();
  void LexNumber();
  void LexMinus();
  void LexString(char quote);
  bool LexNanPayload();
  void Finish(TokenKind kind, size_t end);
  void FinishText(TokenKind kind, size_t end, std::string_view text);
  void FinishDecimal(size_t end);
  void FinishInt(size_t end);
  [[gnu::cold]] void Fail(std::string_view message);
  SourcePosition PositionAt(size_t offset) const;
  void CountLines(size_t from, size_t to);
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  size_t cursor_ = 0;       // first byte after the current token
  size_t token_begin_ = 0;  // first byte of the current token
  size_t line_start_ = 0;
  int32_t line_ = 1;
  Token token_;
  absl::Status error_;
};

// True for the names of element types, "token" and "opaque": words that no name may be.
bool IsPrimitiveTypeName(std::string_view word);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_LEXER_H_
