// The op table: hlo/ops.def expanded to the OpDefs of the family files.
#ifndef ASSAY_EVALUATOR_REGISTRY_H_
#define ASSAY_EVALUATOR_REGISTRY_H_

#include "evaluator/op.h"

namespace assay {

const OpDef& DefinitionOf(Opcode opcode);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_REGISTRY_H_
