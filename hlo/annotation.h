// Annotations among instructions, which change no value. Of shardings: custom calls that give their operand
// and stand where a compiler reads them (docs/spec/sharding.md, SDY-25). JAX writes them into reducers too,
// where a sum must still be seen as one.
#ifndef ASSAY_HLO_ANNOTATION_H_
#define ASSAY_HLO_ANNOTATION_H_

#include "hlo/module.h"

namespace assay {

// custom-call(x), custom_call_target="Sharding", and what marks a function's result or ends propagation.
bool IsShardingAnnotation(const Instruction& instruction);
// custom-call of the test dialects, check.* and interpreter.*: it looks at its operands and gives one of
// them, or nothing, so it may stand in a computation that is applied to single elements.
bool OnlyObserves(const Instruction& instruction);
// The instruction at `index`, or what it annotates.
int32_t WithoutAnnotations(const Computation& computation, int32_t index);

}  // namespace assay

#endif  // ASSAY_HLO_ANNOTATION_H_
