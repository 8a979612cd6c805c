// Custom calls that stand for an HLO operation, for engines that have kernels for that operation.
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_CUSTOM_CALL_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_CUSTOM_CALL_H_

#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"

namespace assay {

// The frontend attribute that says of a call why its target has a meaning, and this call none (custom/xla).
inline constexpr std::string_view kNotSupportedReason = "assay.not_supported";

// Whether it stands for a cholesky or a triangular-solve.
bool IsLapackCall(const Instruction& call);
// Whether a target has a meaning of Assay's own, or is reserved: no operation of a user may have its name.
bool IsTargetOfAssay(std::string_view target);

// Evaluates the instruction of its context: the operation that a call stands for.
using StandInFn =
    absl::FunctionRef<absl::StatusOr<Literal>(EvalContext& context, std::span<Literal> operands)>;
// custom-call with the operations it stands for evaluated by `run`.
absl::StatusOr<Literal> RunStandIn(EvalContext& context, std::span<Literal> operands, StandInFn run);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_CUSTOM_CALL_H_
