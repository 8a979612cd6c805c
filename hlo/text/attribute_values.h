// Values of instruction attributes by form (docs/spec/hlo-text.md section 5), but for computations
// (parser.cc) and device groups (device_groups.h).
#ifndef ASSAY_HLO_TEXT_ATTRIBUTE_VALUES_H_
#define ASSAY_HLO_TEXT_ATTRIBUTE_VALUES_H_

#include "hlo/attribute.h"
#include "hlo/text/token_reader.h"

namespace assay {

// Reads the value of `attr`, whose name and '=' are already taken. It does not read the forms kComputation
// and kComputations.
absl::StatusOr<AttrValue> ReadAttributeValue(TokenReader& in, Attr attr);

// "{1,2}", a trailing comma is allowed.
absl::Status ReadShapeIndex(TokenReader& in, Ints* index);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_ATTRIBUTE_VALUES_H_
