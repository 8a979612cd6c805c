// Literals in the text of a program: what LiteralParser does not know of,
// elided values and what a person should be told.
#include "hlo/text/literal_value.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "literal/literal_text.h"

namespace assay {
namespace {

// The elided form "{...}" at the current token.
bool AtElided(const TokenReader& in) {
  if (!in.At(TokenKind::kLeftBrace)) return false;
  Lexer ahead = in.lexer();
  ahead.Next();
  if (ahead.token().kind != TokenKind::kDots) return false;
  ahead.Next();
  return ahead.token().kind == TokenKind::kRightBrace;
}

// Decision: elided-in-tuple. How long the tuple literal at the current token is if a part of it is elided;
// else 0.
size_t ElidedTupleExtent(const TokenReader& in) {
  if (!in.At(TokenKind::kLeftParen)) return 0;
  const char* const begin = in.lexer().FromToken().data();
  int64_t depth = 0;
  bool elided = false;
  for (Lexer ahead = in.lexer();; ahead.Next()) {
    const TokenKind kind = ahead.token().kind;
    if (kind == TokenKind::kEof || kind == TokenKind::kError) return 0;
    elided |= kind == TokenKind::kDots;
    depth += (kind == TokenKind::kLeftParen) - (kind == TokenKind::kRightParen);
    if (depth == 0) return elided ? static_cast<size_t>(ahead.Spelling().data() + 1 - begin) : 0;
  }
}

// A constant holds elements -0 that mean +0. `text` is its text, from the token on.
void WarnOfMinusZeros(TokenReader& in, std::string_view text, const MinusZeros& found) {
  if (found.count == 0) return;
  SourcePosition where = in.position();
  for (const char c : text.substr(0, found.first)) {
    ++where.column;
    if (c == '\n') where = {where.line + 1, 1};
  }
  in.Warn(where, fmt::format(
                     "{} read as the integer 0, so as +0, as in XLA, which prints negative zero alike; "
                     "negative zero is written -0.0",
                     found.count == 1 ? "-0 is" : fmt::format("{} -0 are", Counted(found.count, "element"))));
}

// Decision: bare-literal. One element where an array is wanted:
// XLA's reader stores it as element 0 and leaves the others 0.
absl::StatusOr<LiteralPtr> ReadBareElement(TokenReader& in, const Shape& shape) {
  if (!in.CountBareBytes(shape.num_bytes())) {
    return ProgramLimitExceeded(in.position(), "bytes of arrays written as one element", shape.num_bytes(),
                                TokenReader::kMaxBareBytes);
  }
  const SourcePosition where = in.position();
  size_t consumed = 0;
  MinusZeros minus_zeros;
  absl::StatusOr<Literal> element =
      ParseLiteral(Shape::Scalar(shape.element_type()), in.lexer().FromToken(), {}, &consumed, &minus_zeros);
  if (!element.ok()) return WithPositionMovedTo(std::move(element).status(), where);
  WarnOfMinusZeros(in, in.lexer().FromToken(), minus_zeros);
  ASSAY_ASSIGN_OR_RETURN(Literal array, Literal::Make(shape));
  const std::span<std::byte> bytes = array.MutableBytes();
  std::ranges::fill(bytes, std::byte{0});
  std::ranges::copy(element->bytes(), bytes.begin());
  in.Warn(where, fmt::format("one element for all of {}: element 0 is {}, the others are 0", shape.ToString(),
                             LiteralToText(*element)));
  in.lexer().SkipFromToken(consumed);
  return std::make_shared<const Literal>(std::move(array));
}

}  // namespace

absl::StatusOr<LiteralPtr> ReadLiteral(TokenReader& in, const Shape& shape) {
  if (AtElided(in)) {
    for (int i = 0; i < 3; ++i) in.Next();
    return LiteralPtr();
  }
  const std::string_view text = in.lexer().FromToken();
  if (shape.IsTuple()) {
    if (const size_t extent = ElidedTupleExtent(in); extent > 0) {
      in.lexer().SkipFromToken(extent);
      return LiteralPtr();
    }
  }
  if (shape.IsArray() && shape.rank() > 0 && shape.num_elements() > 0 && !in.At(TokenKind::kLeftBrace) &&
      !in.At(TokenKind::kRightParen) && !in.At(TokenKind::kEof)) {
    return ReadBareElement(in, shape);
  }
  size_t consumed = 0;
  MinusZeros minus_zeros;
  absl::StatusOr<Literal> literal = ParseLiteral(shape, text, {}, &consumed, &minus_zeros);
  if (!literal.ok()) return WithPositionMovedTo(std::move(literal).status(), in.position());
  WarnOfMinusZeros(in, text, minus_zeros);
  in.lexer().SkipFromToken(consumed);
  return std::make_shared<const Literal>(*std::move(literal));
}

}  // namespace assay
