// cholesky in the native engine.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_CHOLESKY_H_
#define ASSAY_ENGINES_NATIVE_LINALG_CHOLESKY_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCholesky(const StepView& step, Isa isa);
// The kernel's Run, for an instruction that is a cholesky or stands for one.
absl::StatusOr<Literal> RunCholesky(EvalContext& context, std::span<Literal> operands, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_CHOLESKY_H_
