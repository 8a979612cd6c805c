#include "engines/native/linalg/lapack_call.h"

#include "engines/native/linalg/cholesky.h"
#include "engines/native/linalg/triangular_solve.h"
#include "evaluator/ops/control/custom_call.h"

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

std::shared_ptr<const Kernel> MakeLapackCall(Isa isa) { return std::make_shared<LapackKernel>(isa); }

}  // namespace assay::native
