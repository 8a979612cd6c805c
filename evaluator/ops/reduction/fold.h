// What reduce and reduce-window share: operands x0 … x(N-1), init0 … init(N-1), and for every result index
// the fold (RED of docs/spec/operations-linalg.md) of the init values with the elements that the op says,
// one after the other.
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_FOLD_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_FOLD_H_

#include <span>
#include <vector>

#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/reduction/element_sum.h"
#include "evaluator/ops/reduction/reducer.h"

namespace assay {

// Operands of the types that the reducer wants, and results that nothing is written to yet.
struct FoldArrays {
  std::vector<Literal> inputs, inits, results;
};
absl::StatusOr<FoldArrays> MakeFoldArrays(EvalContext& context, std::span<const Literal> operands,
                                          const ScalarFunction& reducer);
// The op's result, with these run-time sizes.
absl::StatusOr<Literal> ResultOfFold(EvalContext& context, FoldArrays arrays, std::span<const int64_t> sizes);

// The fold of one result index after the other.
class Fold {
 public:
  Fold(ScalarFunction& reducer, FoldArrays& arrays);
  // acc = init
  void Start(Index result);
  // acc = f(acc, x[from])
  absl::Status Add(Index from);
  // result[…] = acc
  void Finish();

 private:
  ReducerCall reducer_;
  const bool is_exact_sum_;  // RED-1: acc is the exact sum, which is rounded at the end
  ElementSum sum_;
  std::vector<ArrayView> inputs_, inits_;
  std::vector<MutableArrayView> results_;
  std::vector<std::byte*> running_;
  std::vector<const std::byte*> added_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_FOLD_H_
