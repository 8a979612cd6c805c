// What the command and the Python package show of a registered operation.
#ifndef ASSAY_CUSTOM_OP_DOCUMENT_H_
#define ASSAY_CUSTOM_OP_DOCUMENT_H_

#include <string>

#include "custom/op_interface.h"

namespace assay::custom {

// Several lines: signature, documentation, inputs, outputs, attributes with their constraints and defaults.
std::string DocumentOf(const OpInterface& op);

// Wrappers as sources (custom-ops.md, section 3): `acme_zero_out(to_zero, preserve_index=0, name=None)`, required arguments first,
// inferred attributes left out. The Python one calls assay.ops.call; the C++ one builds a CustomCall through XlaBuilder.
std::string WrapperName(std::string_view op);
std::string PythonWrapper(const OpInterface& op);
std::string CppWrapper(const OpInterface& op);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_OP_DOCUMENT_H_
