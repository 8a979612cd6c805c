// Operands as reducers, combiners and windows want them.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCER_OPERANDS_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCER_OPERANDS_H_

#include <span>
#include <vector>

#include "evaluator/eval_context.h"

namespace assay::native {

// The literal with its floating elements rounded to `type` (RED: "first converted to the parameter type");
// itself where the type is the same already. Run-time sizes are kept.
absl::StatusOr<Literal> ConvertForFold(EvalContext& context, const Literal& literal, ElementType type);
// The N operands and N start values as the reducer's new and running values want them.
absl::StatusOr<std::vector<Literal>> ConvertForFold(EvalContext& context, std::span<const Literal> operands,
                                                    ComputationId reducer);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCER_OPERANDS_H_
