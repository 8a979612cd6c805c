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

}  // namespace assay
