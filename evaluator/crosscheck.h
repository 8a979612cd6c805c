// The cross-check: what a kernel gave, compared with the reference by the kernel's own Accuracy.
//
// `full` compares every element of every run. `sample` looks at runs number 1, 2, 4, 8, … of each step, counted from when
// the plan was made, so that a small program that runs often pays for few of them: at all of the result where the
// reference makes that in no time, else at its first and its last element and at some between, each computed alone
// (elements_at.h), so few that a large step takes 2 to 8 % longer. A step that has no such rule (a sort, say) is compared
// as a whole where that is about 2,000 elements, and else not at all.
#ifndef ASSAY_EVALUATOR_CROSSCHECK_H_
#define ASSAY_EVALUATOR_CROSSCHECK_H_

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"
#include "evaluator/plan.h"

namespace assay {

// About how many element operations the reference needs for an instruction: the elements of operands and
// result; for sums of products the number of products.
double ReferenceWork(const Computation& computation, const Instruction& instruction);

// OK if every bit agrees; else the status of a failed comparison (exit code 1), with the worst element.
absl::Status CompareWithReference(const Literal& reference, const Literal& actual);

class CrossChecker {
 public:
  explicit CrossChecker(const RunOptions& options) : options_(options) {}

  // Runs the step's kernel, and compares where it is to be compared. ComparisonFailed names the element; the step is
  // written to options.repro_dir.
  absl::StatusOr<Literal> Run(EvalContext& context, const Computation& computation, const Step& step,
                              std::span<Literal> operands);
  // How many runs were compared.
  int64_t checked() const { return checked_; }

 private:
  // How much of a run is compared.
  struct Extent {
    enum { kNothing, kElements, kAll } kind = kNothing;
    std::vector<int64_t> positions;  // of kElements
  };
  Extent ExtentOf(const Computation& computation, const Step& step);

  const RunOptions& options_;
  int64_t checked_ = 0;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_CROSSCHECK_H_
