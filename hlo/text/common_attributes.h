// Attributes that every instruction may carry (docs/spec/hlo-text.md section 7).
#ifndef ASSAY_HLO_TEXT_COMMON_ATTRIBUTES_H_
#define ASSAY_HLO_TEXT_COMMON_ATTRIBUTES_H_

#include <string>
#include <string_view>

#include "hlo/module.h"
#include "hlo/text/token_reader.h"

namespace assay {

enum class CommonAttr : uint8_t {
  kSharding,
  kFrontendAttributes,
  kStatistics,
  kParameterReplication,
  kControlPredecessors,
  kOrigin,
  kMetadata,
  kBackendConfig,
};
std::optional<CommonAttr> CommonAttrFromName(std::string_view name);

// Reads the value of a common attribute other than control-predecessors.
absl::Status ReadCommonAttribute(TokenReader& in, CommonAttr attr, InstructionExtras* extras);

absl::Status ReadFrontendAttributes(TokenReader& in, FrontendAttributes* attributes);
absl::Status ReadMetadata(TokenReader& in, OpMetadata* metadata);
// {op_type="x" source_line=3}: what is neither empty nor 0, in the order of section 8.
std::string MetadataText(const OpMetadata& metadata);
// "{"x" {0,1}}" or "{}", in canonical text.
absl::Status ReadOriginArray(TokenReader& in, std::string* canonical);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_COMMON_ATTRIBUTES_H_
