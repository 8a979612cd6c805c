// The cross-check: what a kernel gave, compared with the reference by the kernel's own Accuracy.
//
// `full` compares every element of every run. `sample` looks at runs number 1, 2, 4, 8, … of each step,
// counted from when the program was loaded, so that a small program that runs often pays for few of them: at
// all of the result where the reference makes that in no time, else at its first and its last element and at
// some between, each computed alone (elements_at.h), so few that a large step takes 2 to 8 % longer. A step
// that has no such rule (a sort, say) is compared as a whole where that is about 2,000 elements,
// and else not at all.
#ifndef ASSAY_RUN_CROSSCHECK_H_
#define ASSAY_RUN_CROSSCHECK_H_

#include <memory>
#include <mutex>

#include "absl/functional/function_ref.h"
#include "base/hash_map.h"
#include "evaluator/eval_context.h"
#include "plan/plan.h"

namespace assay {

// About how many element operations the reference needs for an instruction: the elements of operands and
// result; for sums of products the number of products.
double ReferenceWork(const Computation& computation, const Instruction& instruction);

// OK if every bit agrees; else the status of a failed comparison (exit code 1), with the worst element.
absl::Status CompareWithReference(const Literal& reference, const Literal& actual);

// How often each kernel ran, in whichever run: a program that runs often is compared ever more seldom, and
// costs next to nothing then. A new kernel at the address of a dead one starts anew.
// They are safe from many threads.
class RunCounts {
 public:
  // The counts of plans that nobody else has.
  static RunCounts& OfProcess();
  // The number of the run that begins now, from 1.
  uint64_t Next(const std::shared_ptr<const Kernel>& kernel);

 private:
  static constexpr size_t kFewest = 1024;
  struct Count {
    std::weak_ptr<const Kernel> kernel;
    uint64_t runs = 0;
  };
  void DropExpired();

  std::mutex mutex_;
  HashMap<const Kernel*, Count> counts_;
  size_t most_ = kFewest;
};

class CrossChecker {
 public:
  // `step_units`: what the run has counted (steps.h), to which runs of a step that are repeated add nothing.
  CrossChecker(const RunOptions& options, int64_t& step_units) : options_(options), step_units_(step_units) {}

  // Runs the step's kernel, and compares where it is to be compared. ComparisonFailed names the element; the
  // step is written to options.repro_dir.
  absl::StatusOr<Literal> Run(EvalContext& context, const Computation& computation, const Step& step,
                              std::span<Literal> operands);
  // Replaces RunCounts::OfProcess(), for programs that share a plan (program_cache.h); `counts` outlives the
  // runs.
  void CountRunsIn(RunCounts& counts) { run_counts_ = &counts; }
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
  int64_t& step_units_;
  RunCounts* run_counts_ = &RunCounts::OfProcess();
  int64_t checked_ = 0;
};

}  // namespace assay

#endif  // ASSAY_RUN_CROSSCHECK_H_
