#include "evaluator/registry.h"

#include "evaluator/ops/test_call.h"

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
  if (DefinitionOf(instruction.opcode).has_side_effect) return true;
  if (instruction.opcode != Opcode::kCustomCall) return false;
  return instruction.attributes.Bool(Attr::kCustomCallHasSideEffect) ||
         IsTestCall(instruction.attributes.Text(Attr::kCustomCallTarget));
}

}  // namespace assay
