// Checks that instructions which call whole computations, or carry tokens, share.
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_CONTROL_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_CONTROL_H_

#include <span>
#include <string_view>

#include "evaluator/op.h"

namespace assay {

// `op`-C1: as many arguments as parameters; `op`-C2: each compatible with its parameter.
absl::Status CheckCallee(std::string_view op, const InferContext& context, ComputationId id,
                         std::span<const Shape* const> arguments);

// `op`-C3: the pairs of output_to_operand_aliasing name existing, equal subshapes.
absl::Status CheckOutputOperandAliasing(std::string_view op, const InferContext& context,
                                        const Shape& result);

// `label`: operand i is a token.
absl::Status RequireToken(const InferContext& context, int64_t i, std::string_view label);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_CONTROL_H_
