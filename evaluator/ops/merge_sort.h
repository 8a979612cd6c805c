// The merge sort that defines `sort` for every comparator (spec/operations-shape.md, Sort).
#ifndef ASSAY_EVALUATOR_OPS_MERGE_SORT_H_
#define ASSAY_EVALUATOR_OPS_MERGE_SORT_H_

#include <span>

#include "evaluator/eval_context.h"
#include "evaluator/scalar_function.h"

namespace assay {

// Sorts lines of `length` elements, `stride` elements apart from starts[l], of all operands together:
// order[l * length + j] is which element of line l comes j-th.
// Decision: sort-not-an-order
absl::Status MergeSort(EvalContext& context, ScalarFunction& comparator, std::span<const Literal> operands,
                       std::span<const int64_t> starts, int64_t length, int64_t stride,
                       std::span<int32_t> order);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_MERGE_SORT_H_
