// Shardings as canonical text (spec/hlo-text.md section 5). They are opaque to evaluation but for runs on
// several devices.
#ifndef ASSAY_HLO_TEXT_SHARDING_TEXT_H_
#define ASSAY_HLO_TEXT_SHARDING_TEXT_H_

#include <string>

#include "hlo/text/token_reader.h"
#include "shape/shape.h"

namespace assay {

// A whole sharding in braces.
absl::Status ReadSharding(TokenReader& in, std::string* canonical);

// A single sharding on a tuple is meant for every leaf: "{{replicated}, {replicated}}".
void SpreadShardingOverTuple(const Shape& shape, std::string* sharding);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_SHARDING_TEXT_H_
