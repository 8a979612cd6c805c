// The reference's loop over the elements of an elementwise op. Engines do not include this
// header (elements.h says why).
#ifndef ASSAY_EVALUATOR_MAP_ELEMENTS_H_
#define ASSAY_EVALUATOR_MAP_ELEMENTS_H_

#include <span>

#include "evaluator/elementwise.h"
#include "evaluator/eval_context.h"

namespace assay {

// result[i] = f(operands[0][i], operands[1][i], …) for every index i of the result; an operand of rank 0 has
// one element for all of them.
absl::StatusOr<Literal> MapElements(EvalContext& context, std::span<const Literal> operands,
                                    const StripKernel& f);

// The eval function of every elementwise op: f is the op's strip function, for strips of one element.
// Run-time sizes of dynamic dimensions must agree, DYN-4.
absl::StatusOr<Literal> EvalElementwise(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_MAP_ELEMENTS_H_
