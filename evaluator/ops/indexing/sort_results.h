// What the reference's sort and the fast one share.
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_SORT_RESULTS_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_SORT_RESULTS_H_

#include <span>
#include <vector>

#include "evaluator/eval_context.h"

namespace assay {

// One an operand, of its run-time sizes; dead elements are zero, live ones to be written.
absl::StatusOr<std::vector<Literal>> NewSortResults(EvalContext& context, std::span<const Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_SORT_RESULTS_H_
