// Tokens of MLIR text (docs/spec/stablehlo-text.md section 1). Types and dense elements are read from the raw
// text by the parser, which then tells the lexer how far it went.
#ifndef ASSAY_HLO_MLIR_TEXT_LEXER_H_
#define ASSAY_HLO_MLIR_TEXT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace assay::mlir {

// The value of a hexadecimal digit.
inline int HexValue(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

enum class Tok : uint8_t {
  kEof,
  kError,   // Lexer::error() says what is wrong
  kWord,    // stablehlo.add
  kValue,   // %arg0: text without '%', and without "#1" (Token::integer then; else -1)
  kBlock,   // ^bb0
  kSymbol,  // @main: text without '@'; quoted ones keep their quotes
  kHash,    // #loc1, #stablehlo.gather: text without '#'
  kBang,    // !stablehlo.token
  kInt,
  kHex,
  kFloat,
  kString,  // text is the raw body
  kArrow,
  kColonColon,
  kOpenMeta,   // {-#
  kCloseMeta,  // #-}
  kPunct,      // Token::punct
};

struct Token {
  Tok kind = Tok::kEof;
  char punct = 0;
  bool has_escapes = false;  // kString
  std::string_view text;
  int64_t integer = -1;  // kValue
};

class Lexer {
 public:
  // Lexes the first token. A lexer is small: copy it to look ahead.
  explicit Lexer(std::string_view text) : text_(text) { Next(); }

  const Token& token() const { return token_; }
  void Next();
  bool At(Tok kind) const { return token_.kind == kind; }
  bool At(char punct) const { return token_.kind == Tok::kPunct && token_.punct == punct; }
  const absl::Status& error() const { return error_; }

  size_t offset() const { return begin_; }
  SourcePosition position() const { return {line_, static_cast<int32_t>(begin_ - line_start_) + 1}; }
  SourcePosition PositionOf(size_t offset) const;
  std::string_view text() const { return text_; }
  // The raw source of the current token.
  std::string_view Spelling() const { return text_.substr(begin_, cursor_ - begin_); }
  // Goes on lexing at an offset at or behind the current token's.
  void ContinueAt(size_t offset);
  // The first byte behind the current token.
  size_t end() const { return cursor_; }

 private:
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  void SkipSpace();
  void Finish(Tok kind, size_t end, size_t skip = 0);
  void LexNumber();
  void LexString();
  void LexValue();
  void LexSymbol();
  void LexPunct();
  void Fail(std::string_view message);

  std::string_view text_;
  size_t cursor_ = 0, begin_ = 0, line_start_ = 0;
  int32_t line_ = 1;
  Token token_;
  absl::Status error_;
};

// The body of a string with its escapes resolved.
std::string Unescape(std::string_view body);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_TEXT_LEXER_H_
