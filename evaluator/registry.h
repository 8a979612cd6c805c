// The op table: hlo/ops.def expanded to the OpDefs of the family files.
#ifndef ASSAY_EVALUATOR_REGISTRY_H_
#define ASSAY_EVALUATOR_REGISTRY_H_

#include "evaluator/op.h"

namespace assay {

const OpDef& DefinitionOf(Opcode opcode);
// Whether the instruction itself has a side effect, computations that it calls left out: by its opcode, by
// custom_call_has_side_effect, or as a check.
bool HasSideEffect(const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_REGISTRY_H_
