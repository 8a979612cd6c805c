#include "evaluator/custom_op.h"

#include "evaluator/bound.h"
#include "evaluator/work.h"

namespace assay {

absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> CustomOp::PrepareOnDevice(
    const Module&, const Computation&, const Instruction&) const {
  return NotSupported({}, "an operation without kernels for GPUs");
}

double CustomOp::Elements(const InstructionView& call) const { return work::Largest(call); }

void CustomOp::Bound(BoundContext& context) const { context.MarkUnchecked("no rule for its bounds yet"); }

const CustomOp* CustomOpOf(const Module& module, const Instruction& call) {
  if (module.custom_ops == nullptr || call.opcode != Opcode::kCustomCall) return nullptr;
  const CustomCallTarget* const target =
      module.custom_ops->Find(call.attributes.Text(Attr::kCustomCallTarget));
  return static_cast<const CustomOp*>(target);
}

}  // namespace assay
