#include "engines/custom/custom_engine.h"

#include <cmath>
#include <utility>

#include "evaluator/custom_op.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay::custom {
namespace {

// |x - r| <= absolute + relative * |r| of floats and of each component of complex numbers, r the reference's; a NaN is a NaN, an
// infinity that infinity. Other types have the same bits.
class WithinTolerance final : public Accuracy {
 public:
  explicit WithinTolerance(CustomTolerance tolerance) : tolerance_(tolerance) {}

  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    const ScalarValue r = LoadElement(exact.type, exact.value), x = LoadElement(exact.type, actual);
    if (IsFloat(exact.type)) return AllowsNumber(r.r, x.r);
    if (IsComplex(exact.type))
      return AllowsNumber(r.c.real(), x.c.real()) && AllowsNumber(r.c.imag(), x.c.imag());
    return BitExact().Allows(exact, actual);
  }
  std::string Bound() const override {
    return fmt::format("within {} + {} |r| of the operation's reference kernel", tolerance_.absolute,
                       tolerance_.relative);
  }

 private:
  bool AllowsNumber(double r, double x) const {
    if (std::isnan(r) || std::isnan(x)) return std::isnan(r) && std::isnan(x);
    if (std::isinf(r) || std::isinf(x)) return r == x;
    return std::abs(x - r) <= tolerance_.absolute + tolerance_.relative * std::abs(r);
  }

  const CustomTolerance tolerance_;
};

class PreparedCall final : public Kernel {
 public:
  explicit PreparedCall(std::shared_ptr<const CustomKernel> kernel)
      : kernel_(std::move(kernel)), within_(kernel_->tolerance()) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return kernel_->Run(context, operands);
  }
  const Accuracy& accuracy() const override { return kernel_->tolerance().is_exact() ? BitExact() : within_; }
  std::string_view algorithm() const override { return kernel_->name(); }

 private:
  const std::shared_ptr<const CustomKernel> kernel_;
  const WithinTolerance within_;
};

class Custom final : public Engine {
 public:
  std::string_view name() const override { return "custom"; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode != Opcode::kCustomCall) return NotSupported({}, "no custom call");
    const CustomOp* const op = CustomOpOf(step.module, step.instruction);
    if (op == nullptr) return NotSupported({}, "no registered operation");
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
