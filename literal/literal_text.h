// Values as text (docs/spec/shapes.md 9.3, docs/spec/hlo-text.md sections 4 and 8).
#ifndef ASSAY_LITERAL_LITERAL_TEXT_H_
#define ASSAY_LITERAL_LITERAL_TEXT_H_

#include <string>
#include <string_view>

#include "literal/literal.h"

namespace assay {

struct LiteralTextOptions {
  // Floats as C99 hex ("0x1.8p+1"): every bit visible, for goldens.
  bool hex_floats = false;
};

// The literal without its shape: "{ { 1, 2 }, { 3, 4 } }"; the canonical form of HLO text.
std::string LiteralToText(const Literal& literal, const LiteralTextOptions& options = {});
// One element as HLO text prints it: shortest %g that reads back, "-0.0" for negative zero.
std::string ElementToText(ElementType type, const std::byte* element, const LiteralTextOptions& options = {});

// Float elements that are written as the integer -0, which has no sign: they are +0 (minus-zero-integer).
struct MinusZeros {
  int64_t count = 0;
  size_t first = 0;  // where the first one stands in the text
};

// Parses the text of a literal of the given shape. Commas may be left out; nesting must match (LIT-1),
// numbers must fit (LIT-2). Hex floats are accepted too where `options.hex_floats`.
// `consumed`: if not null, text may go on after the literal and this is where it ended. `minus_zeros`: if not
// null, what there is of these.
// Errors: InvalidProgram with line and column inside `text`. An elided "{...}" is refused here; the HLO
// parser recognises it first.
absl::StatusOr<Literal> ParseLiteral(const Shape& shape, std::string_view text,
                                     const LiteralTextOptions& options = {}, size_t* consumed = nullptr,
                                     MinusZeros* minus_zeros = nullptr);

// A shape and a literal of it: "f32[2] {1, 2}", "(f32[2], s32[]) ({1, 2}, 3)", "f32[2,2]{0,1} {{1, 2}, {3,
// 4}}". A blank before the brace makes it the literal's: without one it is a layout.
absl::StatusOr<Literal> ParseShapedLiteral(std::string_view text, const LiteralTextOptions& options = {});

// Prints as NumPy prints arrays, with long ones summarised; for terminals.
std::string LiteralToDisplay(const Literal& literal);

}  // namespace assay

#endif  // ASSAY_LITERAL_LITERAL_TEXT_H_
