#include "evaluator/registry.h"

namespace assay {
namespace {

constexpr const OpDef* kTable[] = {
#define OP(id, hlo, stablehlo) &ops::id,
#include "hlo/ops.def"
#undef OP
};

}  // namespace

const OpDef& DefinitionOf(Opcode opcode) { return *kTable[static_cast<int>(opcode)]; }

bool HasSideEffect(const Instruction& instruction) {
  const OpDef& op = DefinitionOf(instruction.opcode);
  return op.has_side_effect || (op.effect_of != nullptr && op.effect_of(instruction));
}

}  // namespace assay
