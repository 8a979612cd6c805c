#include "engines/native/linalg/lapack_call.h"

#include "engines/native/linalg/cholesky.h"
#include "engines/native/linalg/triangular_solve.h"
#include "evaluator/ops/custom_call.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

class LapackKernel final : public Kernel {
 public:
  explicit LapackKernel(Isa isa) : isa_(isa) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunStandIn(context, operands, [this](EvalContext& inner, std::span<Literal> values) {
      return inner.instruction().opcode == Opcode::kCholesky ? RunCholesky(inner, values, isa_)
                                                             : RunTriangularSolve(inner, values, isa_);
    });
  }

 private:
  const Isa isa_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCustomCall(const StepView& step, Isa isa) {
  if (IsLapackCall(step.instruction)) return std::make_shared<LapackKernel>(isa);
  return NotSupported({}, fmt::format("no kernel for custom calls of {}",
                                      step.instruction.attributes.Text(Attr::kCustomCallTarget)));
}

}  // namespace assay::native
