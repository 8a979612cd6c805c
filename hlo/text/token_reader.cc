// Shared reading of tokens. Most shapes of a program are written many times, so shapes are read once for each
// distinct text.
#include "hlo/text/token_reader.h"

#include <limits>
#include <utility>

#include "base/limits.h"
#include "fmt/format.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

std::string_view KindText(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEof:
      return "the end of the text";
    case TokenKind::kEqual:
      return "'='";
    case TokenKind::kComma:
      return "','";
    case TokenKind::kColon:
      return "':'";
    case TokenKind::kAsterisk:
      return "'*'";
    case TokenKind::kHash:
      return "'#'";
    case TokenKind::kLeftSquare:
      return "'['";
    case TokenKind::kRightSquare:
      return "']'";
    case TokenKind::kLeftBrace:
      return "'{'";
    case TokenKind::kRightBrace:
      return "'}'";
    case TokenKind::kLeftParen:
      return "'('";
    case TokenKind::kRightParen:
      return "')'";
    case TokenKind::kArrow:
      return "'->'";
    case TokenKind::kLessEqual:
      return "'<='";
    case TokenKind::kAttrName:
      return "an attribute name followed at once by '='";
    case TokenKind::kDimLabels:
      return "dimension labels like bf01_oi01->bf01";
    case TokenKind::kPad:
      return "padding like 0_1x2_2";
    case TokenKind::kInt:
      return "an integer";
    case TokenKind::kString:
      return "a string";
    default:
      return "another token";
  }
}

// A token as an error shows it: short, printable.
std::string Shown(std::string_view spelling) {
  constexpr size_t kMaxShown = 40;
  std::string shown;
  for (char c : spelling.substr(0, kMaxShown)) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  if (spelling.size() > kMaxShown) shown += "...";
  return shown;
}

// The end of a bracketed text that starts with `open` at text[0], or npos: a comment, a quote or the text's
// end came first.
size_t BracketEnd(std::string_view text, char open, char close) {
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == open) {
      ++depth;
    } else if (c == close) {
      if (--depth == 0) return i + 1;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      i = text.find("*/", i + 2);
      if (i == std::string_view::npos) return i;
      ++i;
    } else if (c == '/' || c == '"' || c == '=' || c == '%') {
      return std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

// How many bytes the shape at the start of `text` takes, found without reading it; 0 where that is not plain
// to see.
size_t ShapeExtent(std::string_view text) {
  if (!text.empty() && text[0] == '(') {
    const size_t end = BracketEnd(text, '(', ')');
    return end == std::string_view::npos ? 0 : end;
  }
  size_t at = 0;
  while (at < text.size() && text[at] != '[' && text[at] != '/' && text[at] != '(') ++at;
  if (at == text.size() || text[at] != '[') return 0;
  while (at < text.size() && text[at] != ']' && text[at] != '/') ++at;
  if (at == text.size() || text[at] != ']') return 0;
  const size_t dims_end = ++at;
  const auto skip_space = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
      ++at;
  };
  skip_space();
  if (at < text.size() && text[at] == '/') return 0;
  if (at == text.size() || text[at] != '{') return dims_end;
  const size_t layout = at++;
  skip_space();
  if (at < text.size() && (text[at] == '/' || text[at] == '-')) return 0;
  if (at == text.size() || !(text[at] == ':' || (text[at] >= '0' && text[at] <= '9'))) return dims_end;
  const size_t end = BracketEnd(text.substr(layout), '{', '}');
  return end == std::string_view::npos ? 0 : layout + end;
}

}  // namespace

bool TokenReader::AtShape() const {
  if (At(TokenKind::kPrimType) || At(TokenKind::kLeftParen)) return true;
  return AtWord(TokenKind::kIdent, "b") && Ahead() == TokenKind::kLeftParen;
}

TokenKind TokenReader::Ahead() const {
  Lexer ahead = lexer_;
  ahead.Next();
  return ahead.token().kind;
}

bool TokenReader::Eat(TokenKind kind) {
  if (!At(kind)) return false;
  lexer_.Next();
  return true;
}

bool TokenReader::EatKeyword(std::string_view keyword) {
  if (!AtWord(TokenKind::kKeyword, keyword)) return false;
  lexer_.Next();
  return true;
}

bool TokenReader::EatAttrName(std::string_view name) {
  if (!AtWord(TokenKind::kAttrName, name)) return false;
  lexer_.Next();
  return true;
}

absl::Status TokenReader::Expect(TokenKind kind) {
  if (!At(kind)) return Unexpected(KindText(kind));
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ExpectAttrName(std::string_view name) {
  if (!AtWord(TokenKind::kAttrName, name)) return Unexpected(fmt::format("'{}='", name));
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::Unexpected(std::string_view wanted) const {
  if (At(TokenKind::kError)) return lexer_.error();
  if (At(TokenKind::kEof)) {
    return InvalidProgram(position(), fmt::format("found the end of the text, want {}", wanted));
  }
  return InvalidProgram(position(), fmt::format("found '{}', want {}", Shown(lexer_.Spelling()), wanted));
}

absl::Status TokenReader::ReadInt(int64_t* value, std::string_view what) {
  if (!At(TokenKind::kInt)) return Unexpected(what);
  *value = token().integer;
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadNonNegative(int64_t* value, std::string_view what) {
  if (At(TokenKind::kInt) && token().integer < 0) {
    return InvalidProgram(position(), fmt::format("{} is {}, want at least 0", what, token().integer));
  }
  return ReadInt(value, what);
}

absl::Status TokenReader::ReadBool(bool* value) {
  *value = AtWord(TokenKind::kKeyword, "true");
  if (!*value && !AtWord(TokenKind::kKeyword, "false")) return Unexpected("true or false");
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadFloat(double* value) {
  if (At(TokenKind::kDecimal)) {
    *value = token().decimal;
  } else if (At(TokenKind::kInt)) {
    *value = static_cast<double>(token().integer);
  } else if (At(TokenKind::kNegInf)) {
    *value = -std::numeric_limits<double>::infinity();
  } else if (AtWord(TokenKind::kKeyword, "inf")) {
    *value = std::numeric_limits<double>::infinity();
  } else {
    return Unexpected("a number");
  }
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadString(std::string* value) {
  if (!At(TokenKind::kString)) return Unexpected("a string");
  *value = lexer_.StringValue();
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadText(SharedText* value) {
  if (!At(TokenKind::kString)) return Unexpected("a string");
  *value = token().has_escapes ? texts_.Add(lexer_.StringValue()) : texts_.Add(token().text);
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadName(std::string_view* name, std::string_view what) {
  if (!AtName()) return Unexpected(what);
  *name = token().text;
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadWord(std::string* word, std::string_view what) {
  if (!At(TokenKind::kIdent)) return Unexpected(what);
  *word = std::string(token().text);
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadShape(std::shared_ptr<const Shape>* shape) {
  if (!AtShape()) return Unexpected("a shape");
  const std::string_view text = lexer_.FromToken();
  const size_t extent = ShapeExtent(text);
  if (extent > 0) {
    const auto known = shapes_.find(AbslView(text.substr(0, extent)));
    if (known != shapes_.end()) {
      *shape = known->second;
      lexer_.SkipFromToken(extent);
      return absl::OkStatus();
    }
  }
  size_t consumed = 0;
  absl::StatusOr<Shape> parsed = ParseShapePrefix(text, &consumed);
  if (!parsed.ok()) return WithPositionMovedTo(std::move(parsed).status(), position());
  *shape = std::make_shared<const Shape>(*std::move(parsed));
  if (consumed == extent) shapes_.emplace(AbslView(text.substr(0, extent)), *shape);
  lexer_.SkipFromToken(consumed);
  return absl::OkStatus();
}

absl::Status TokenReader::ReadList(TokenKind open, TokenKind close, absl::FunctionRef<absl::Status()> item) {
  ASSAY_RETURN_IF_ERROR(Expect(open));
  if (Eat(close)) return absl::OkStatus();
  do {
    ASSAY_RETURN_IF_ERROR(item());
  } while (Eat(TokenKind::kComma));
  if (!At(close)) return Unexpected(fmt::format("',' or {}", KindText(close)));
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TokenReader::ReadIntList(TokenKind open, TokenKind close, Ints* values) {
  return ReadList(open, close, [&] {
    values->emplace_back();
    return ReadInt(&values->back());
  });
}

absl::Status TokenReader::ReadInts(Ints* values) {
  return ReadIntList(TokenKind::kLeftBrace, TokenKind::kRightBrace, values);
}

absl::Status TokenReader::Nesting::status() const {
  if (reader_.depth_ <= kMaxNesting) return absl::OkStatus();
  return ProgramLimitExceeded(reader_.position(), "nesting depth", reader_.depth_, kMaxNesting);
}

}  // namespace assay
