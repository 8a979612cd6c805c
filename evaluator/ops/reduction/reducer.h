// Reducer computations (docs/spec/operations-linalg.md, RED): what reduce, reduce-window, select-and-scatter,
// scatter, all-reduce and reduce-scatter share. The shape rule is VerifyReducer; the meaning is RED-1 (exact
// sum, evaluator/scalar/exact_sum.h) or RED-2 (left fold, ScalarFunction).
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_REDUCER_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_REDUCER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "evaluator/op.h"

namespace assay {

class EvalContext;
class ScalarFunction;

// RED-C1 to RED-C6 for N = operand_types.size() operands. `operand_types` are the element types of the new
// values; `inits` the shapes of the start values (for scatter: scalars of the operands' types), or empty
// where there are none (all-reduce). Returns the N element types of the running values, which are those of
// the op's results. A reducer of one value may return a tuple of one. RED-C7 (no side effects) is Verify's.
absl::StatusOr<std::vector<ElementType>> VerifyReducer(const InferContext& context, ComputationId reducer,
                                                       std::span<const ElementType> operand_types,
                                                       std::span<const Shape> inits);

// The literal with its floating elements rounded to `type` (RED: "first converted to the parameter type");
// itself where the type is the same already. Run-time sizes are kept.
absl::StatusOr<Literal> ConvertForReducer(EvalContext& context, const Literal& literal, ElementType type);
// The reducer applied to one running value and one new value of each of N operands.
class ReducerCall {
 public:
  explicit ReducerCall(ScalarFunction& reducer);
  // (running[0], …) = f(running[0], …, added[0], …)
  absl::Status Apply(std::span<std::byte* const> running, std::span<const std::byte* const> added);

 private:
  ScalarFunction& reducer_;
  std::vector<const std::byte*> in_;
  const std::vector<int64_t> strides_;  // of single elements: zeros
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_REDUCER_H_
