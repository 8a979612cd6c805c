// The custom calls at the border of programs without dynamic dimensions that XLA's dynamic padder makes:
// PadToStatic takes an array apart into its elements and sizes, SliceToDynamic puts them together.
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_DYNAMIC_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_DYNAMIC_H_

#include <span>
#include <string_view>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

bool IsSizeCall(std::string_view target);
// Operands and result of a call of such a target. Error: InvalidProgram.
absl::Status VerifySizeCall(const InferContext& context, const Shape& result);
absl::StatusOr<Literal> EvalSizeCall(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_DYNAMIC_H_
