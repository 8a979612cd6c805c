// What the command and the Python package show of a registered operation.
#ifndef ASSAY_CUSTOM_OP_DOCUMENT_H_
#define ASSAY_CUSTOM_OP_DOCUMENT_H_

#include <string>
#include <string_view>

#include "custom/op_interface.h"

namespace assay::custom {

// Several lines: signature, documentation, inputs, outputs, attributes with their constraints and defaults.
std::string DocumentOf(const OpInterface& op);

// Wrappers as sources (docs/spec/custom-ops.md, section 3): `acme_zero_out(to_zero, preserve_index=0,
// name=None)`, required arguments first, inferred attributes left out. Names that the language keeps for
// itself get a '_' behind them.
//
// The Python one returns `_call(op, operands, attributes, name=name)`. Sequences are lists among the
// operands, lists are lists, types are their names, shapes and tensors the texts that a registration has
// ("[2,?]", "s32[2] {1, 2}"), strings that are no ASCII are bytes. `_call` gives what operands say where an
// op has several sequences: their number alone does not say how long each is. The C++ one needs
// builder/builder.h and custom/attr_config.h, stands in namespace assay::builder, and is told the result's
// shape.
std::string WrapperName(std::string_view op);
std::string PythonWrapper(const OpInterface& op);
std::string CppWrapper(const OpInterface& op);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_OP_DOCUMENT_H_
