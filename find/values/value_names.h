// Names of intermediate values: the instruction's name behind those of its callers, with a slash between them
// (docs/find.md).
#ifndef ASSAY_FIND_VALUES_VALUE_NAMES_H_
#define ASSAY_FIND_VALUES_VALUE_NAMES_H_

#include <string>

#include "find/values/call_watch.h"
#include "hlo/module.h"
#include "shape/shape.h"

namespace assay {

// "call.3/", "while.1/it0007/", "while.1/cond0007/".
std::string CallName(const Instruction& caller, const CallPlace& place);
// "add.5"; of a leaf of a tuple "while.1{0}", "while.1{2,0}".
std::string LeafName(const Instruction& instruction, const ShapeIndex& leaf);
// Whether the instruction's value is recorded: it is an array or has such elements, and neither a parameter
// nor a constant nor what puts values together, takes them apart or passes them on.
bool IsRecorded(const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_FIND_VALUES_VALUE_NAMES_H_
