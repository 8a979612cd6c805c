// A shape and its literal in one text, as goldens and tests write values.
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

// Where the shape ends: after its brackets, and after the brace that follows them without a blank.
size_t ShapeEnd(std::string_view text) {
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c != ')' && c != ']' && c != '}') continue;
    --depth;
    if (depth <= 0 && (i + 1 == text.size() || text[i + 1] != '{')) return i + 1;
  }
  return text.size();
}

}  // namespace

absl::StatusOr<Literal> ParseShapedLiteral(std::string_view text, const LiteralTextOptions& options) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = begin + ShapeEnd(text.substr(begin));
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, ParseShape(text.substr(begin, end - begin)));
  return ParseLiteral(shape, text.substr(end), options);
}

}  // namespace assay
