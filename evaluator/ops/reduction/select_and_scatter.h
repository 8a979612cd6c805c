// The rule for run-time sizes of select-and-scatter (docs/spec/operations-linalg.md), which engines keep too.
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_SELECT_AND_SCATTER_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_SELECT_AND_SCATTER_H_

#include "evaluator/eval_context.h"

namespace assay {

// DYN-7: EvalError unless the source has an element for each position of the window over the operand.
absl::Status CheckSourceSizes(const EvalContext& context, const Literal& operand, const Literal& source);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_SELECT_AND_SCATTER_H_
