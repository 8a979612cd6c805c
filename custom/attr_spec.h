// `name: attr-type [>= n] [= default]` (docs/spec/custom-ops.md, 1.2).
#ifndef ASSAY_CUSTOM_ATTR_SPEC_H_
#define ASSAY_CUSTOM_ATTR_SPEC_H_

#include <string_view>

#include "custom/op_interface.h"

namespace assay::custom {

// All that the text alone says. Whether the default is within the constraint is left to the caller, as a
// sequence's length has a minimum of its own. Error: InvalidProgram, "attr 'TEXT': …".
absl::StatusOr<OpAttrDef> ParseAttrSpec(std::string_view spec);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_ATTR_SPEC_H_
