// Exact sums of the elements of an array and of what scatter or select-and-scatter adds to them (RED-1).
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_SCATTERED_SUMS_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_SCATTERED_SUMS_H_

#include <cstdint>

#include "evaluator/elements.h"
#include "evaluator/eval_context.h"

namespace assay {

class ScatteredSums {
 public:
  // Takes arrays of one type, and at most as many terms as `source` has elements; both outlive it.
  static absl::StatusOr<ScatteredSums> Make(EvalContext& context, const Literal& source, Literal& target);

  // source[from] is a term of target[to].
  void AddTerm(Index to, Index from);
  // target[to] = the exact sum of target[to] and of its terms, rounded once.
  // An element without a term stays as it is.
  absl::Status Store();

 private:
  struct Term {
    int64_t to, from;  // row-major numbers
  };
  ScatteredSums(EvalContext& context, const Literal& source, Literal& target, Literal terms)
      : context_(context), source_(source), target_(target), terms_(std::move(terms)) {}

  EvalContext& context_;
  const Literal& source_;
  Literal& target_;
  Literal terms_;  // memory that counts against the limit
  int64_t count_ = 0;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_SCATTERED_SUMS_H_
