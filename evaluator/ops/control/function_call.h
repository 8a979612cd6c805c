// Custom calls that stand for functions which HLO has no operation for, as CHLO has: chlo.digamma,
// chlo.erf_inv, chlo.zeta and others. Element by element the exact function value, rounded once.
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_FUNCTION_CALL_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_FUNCTION_CALL_H_

#include <span>
#include <string_view>

#include "evaluator/elementwise.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

bool IsFunctionCall(std::string_view target);
// Operands of floats (or complex numbers, where the function is one of those too), as many as the function
// has arguments, and a result of their shape. Error: InvalidProgram.
absl::Status VerifyFunctionCall(const InferContext& context, const Shape& result);
// The function over strips of elements of `type`.
StripKernel StripForFunctionCall(const Instruction& call, ElementType type);
absl::StatusOr<Literal> EvalFunctionCall(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_FUNCTION_CALL_H_
