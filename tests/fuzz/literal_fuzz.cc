// A first line that is a shape, then any text as a value of that shape. What is read must print to text that
// reads back to the same bits, in both forms.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "literal/literal.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

void Check(const Literal& literal, const LiteralTextOptions& options) {
  const std::string text = LiteralToText(literal, options);
  if (text.find("{...}") != std::string::npos) return;
  const absl::StatusOr<Literal> back = ParseLiteral(literal.shape(), text, options);
  ASSAY_CHECK(back.ok());
  // HLO text gives a complex number whose real part is NaN a second NaN.
  if (options.hex_floats) ASSAY_CHECK(Literal::BitwiseEqual(literal, *back));
  if (!options.hex_floats)
    ASSAY_CHECK(LiteralToText(*back) == LiteralToText(*ParseLiteral(literal.shape(), text)));
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos) return 0;
  const auto shape = assay::ParseShape(input.substr(0, line_end));
  if (!shape.ok()) return 0;
  for (const bool hex : {false, true}) {
    const assay::LiteralTextOptions options{.hex_floats = hex};
    const auto literal = assay::ParseLiteral(*shape, input.substr(line_end + 1), options);
    if (!literal.ok()) {
      ASSAY_CHECK(assay::PositionOf(literal.status()).has_value() ||
                  assay::ExitCodeOf(literal.status()) != 3);
      continue;
    }
    assay::Check(*literal, options);
    assay::Check(*literal, {.hex_floats = !hex});
    (void)assay::LiteralToDisplay(*literal);
  }
  return 0;
}
