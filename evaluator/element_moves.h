// Moving elements without looking at them, by logical index: what every op of docs/spec/operations-shape.md
// is made of. Engines do not include this header (elements.h says why).
#ifndef ASSAY_EVALUATOR_ELEMENT_MOVES_H_
#define ASSAY_EVALUATOR_ELEMENT_MOVES_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "evaluator/elements.h"
#include "evaluator/eval_context.h"

namespace assay {

// result[i] = operand[j] for every index i of the space `sizes`, where from(i, j) writes j.
absl::Status TakeElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& operand,
                          absl::FunctionRef<void(Index i, DimVector& j)> from, Literal& result);

// result[i] = operand[j] for every index j of the space `sizes` for which to(j, i) is true; it writes i.
absl::Status PutElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& operand,
                         absl::FunctionRef<bool(Index j, DimVector& i)> to, Literal& result);

// result[i] = value, a scalar, for every index i of the space `sizes`.
absl::Status FillElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& value,
                          Literal& result);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_ELEMENT_MOVES_H_
