// Custom calls of test programs, StableHLO's dialects `check` and `interpreter`: checks of values, which end
// the run where they fail (ComparisonFailed, exit 1), probes and prints.
//
// target                      | operands, result      | fields of backend_config
// check.expect_eq[_const]     | found, wanted -> ()   |
// check.eq                    | found, wanted -> pred |
// check.expect_almost_eq[..]  | found, wanted -> ()   | tolerance
// check.expect_close          | found, wanted -> ()   | min_ulp_difference, max_ulp_difference
// check.expect_serialized_eq  | wanted -> ()          | probe_id, iteration
// interpreter.probe           | x -> x                | probe_id
// interpreter.print           | x -> x                |
//
// No document defines them; the meaning is that of StableHLO's own interpreter (docs/semantics.md, checks).
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_TEST_CALL_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_TEST_CALL_H_

#include <span>
#include <string_view>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

bool IsTestCall(std::string_view target);
// Operands, result and fields of a call of such a target. Error: InvalidProgram;
// NotSupported for dynamic shapes.
absl::Status VerifyTestCall(const InferContext& context, const Shape& result);
absl::StatusOr<Literal> EvalTestCall(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_TEST_CALL_H_
