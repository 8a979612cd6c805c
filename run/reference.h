// A whole step by the reference.
#ifndef ASSAY_RUN_REFERENCE_H_
#define ASSAY_RUN_REFERENCE_H_

#include <span>

#include "evaluator/eval_context.h"
#include "plan/plan.h"

namespace assay {

// OpDef::eval of the step's instruction; of a fusion, of one member after the other. `operands` are the
// values of step.Reads().
absl::StatusOr<Literal> RunReference(EvalContext& context, const Computation& computation, const Step& step,
                                     std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_RUN_REFERENCE_H_
