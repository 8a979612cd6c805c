// Values of attributes as text (docs/spec/custom-ops.md, 1.2): what op_interface.h's functions are made of.
#ifndef ASSAY_CUSTOM_VALUE_TEXT_H_
#define ASSAY_CUSTOM_VALUE_TEXT_H_

#include "custom/op_interface.h"
#include "custom/spec_reader.h"

namespace assay::custom {

// Reads a value and stops behind it. Error: InvalidProgram, what is found and what is wanted.
absl::StatusOr<OpAttrValue> ReadValue(OpAttrKind kind, bool is_list, SpecReader& reader);

absl::StatusOr<int64_t> ReadInt(SpecReader& reader);

// A value for a message: at most some 160 bytes of its text.
std::string ShownValue(const OpAttrValue& value);

// How the value violates kind, set or minimum of the attribute, "is less than 2"; empty: it does not.
std::string ViolationOf(const OpAttrDef& attr, const OpAttrValue& value);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_VALUE_TEXT_H_
