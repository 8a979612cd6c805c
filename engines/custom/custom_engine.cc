#include "engines/custom/custom_engine.h"

#include <utility>

#include "engines/custom_accuracy.h"
#include "evaluator/custom_op.h"

namespace assay::custom {
namespace {

class PreparedCall final : public Kernel {
 public:
  explicit PreparedCall(std::shared_ptr<const CustomKernel> kernel)
      : kernel_(std::move(kernel)), accuracy_(kernel_->tolerance()) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return kernel_->Run(context, operands);
  }
  const Accuracy& accuracy() const override { return accuracy_; }
  std::string_view algorithm() const override { return kernel_->name(); }

 private:
  const std::shared_ptr<const CustomKernel> kernel_;
  const CustomAccuracy accuracy_;
};

class Custom final : public Engine {
 public:
  std::string_view name() const override { return "custom"; }
  bool MayTake(Opcode opcode) const override { return opcode == Opcode::kCustomCall; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode != Opcode::kCustomCall) return NotSupported({}, "not a custom call");
    const CustomOp* const op = CustomOpOf(step.module, step.instruction);
    if (op == nullptr) return NotSupported({}, "no registered operation for the custom call");
    absl::StatusOr<std::shared_ptr<const CustomKernel>> kernel =
        op->Prepare(step.module, step.computation, step.instruction, KernelRole::kFastest);
    if (!kernel.ok()) return WithPosition(kernel.status(), step.instruction.position);
    return std::make_shared<PreparedCall>(*std::move(kernel));
  }
};

}  // namespace

const Engine& CustomEngine() {
  static const Custom engine;
  return engine;
}

}  // namespace assay::custom
