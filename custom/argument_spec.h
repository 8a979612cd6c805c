// `name: io-type` of inputs and outputs (docs/spec/custom-ops.md, 1.1).
#ifndef ASSAY_CUSTOM_ARGUMENT_SPEC_H_
#define ASSAY_CUSTOM_ARGUMENT_SPEC_H_

#include <string_view>
#include <vector>

#include "custom/op_interface.h"

namespace assay::custom {

// `what`: "input" or "output". Every attribute that the text names is one of `attrs`, of a kind that is good
// there. Error: InvalidProgram, "input 'TEXT': …".
absl::StatusOr<OpArgument> ParseArgumentSpec(std::string_view what, std::string_view spec,
                                             const std::vector<OpAttrDef>& attrs);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_ARGUMENT_SPEC_H_
