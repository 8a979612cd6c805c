#include "evaluator/custom_op.h"

namespace assay {

const CustomOp* CustomOpOf(const Module& module, const Instruction& call) {
  if (module.custom_ops == nullptr || call.opcode != Opcode::kCustomCall) return nullptr;
  return module.custom_ops->Find(call.attributes.Text(Attr::kCustomCallTarget));
}

}  // namespace assay
