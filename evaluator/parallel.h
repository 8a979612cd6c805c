// Loops over threads. Results never depend on the number of threads or on how a loop was cut: every kernel
// writes disjoint results, or combines partial results that are exact.
#ifndef ASSAY_EVALUATOR_PARALLEL_H_
#define ASSAY_EVALUATOR_PARALLEL_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace assay {

class StepObserver;  // step_observer.h

class Parallel {
 public:
  // jobs: the most threads at work, fewer where the process may not have so many; 0: one a core that it may use.
  explicit Parallel(int jobs = 1);
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  int jobs() const { return jobs_; }
  // body(begin, end) over disjoint parts of [0, n) of at least `grain` items (the last may be shorter), with
  // work stealing. One part is run on the caller's thread, and no thread is ever started for it. The body
  // must not touch the executor (Charge, NewLiteral): do that outside the loop.
  void For(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end)> body);
  // Tells the observer, which outlives the loops, of each part of a loop that is cut. Null: nobody.
  void Observe(StepObserver* observer) { observer_ = observer; }

 private:
  struct Arena;
  int jobs_;
  StepObserver* observer_ = nullptr;
  std::unique_ptr<Arena> arena_;  // made by the first loop with more than one part
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_PARALLEL_H_
