// The value of a constant in HLO text (docs/spec/hlo-text.md section 4).
#ifndef ASSAY_HLO_TEXT_LITERAL_VALUE_H_
#define ASSAY_HLO_TEXT_LITERAL_VALUE_H_

#include "hlo/attribute.h"
#include "hlo/text/token_reader.h"

namespace assay {

// A literal of the given shape, at the current token; warns of what may be a mistake. Null: elided, "{...}".
absl::StatusOr<LiteralPtr> ReadLiteral(TokenReader& in, const Shape& shape);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_LITERAL_VALUE_H_
