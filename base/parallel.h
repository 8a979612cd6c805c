// Loops over threads. Results never depend on the number of threads or on how a loop was cut: every kernel
// writes disjoint results, or combines partial results that are exact.
#ifndef ASSAY_BASE_PARALLEL_H_
#define ASSAY_BASE_PARALLEL_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "base/error.h"

namespace assay {

class RunGuard;  // base/run_guard.h

// Thrown by Parallel::For where the guard ended the loop: some of its parts never ran, so nobody may go on
// with what it was to make. The executor turns it into the run's error.
struct LoopEnded {
  absl::Status why;
};

// Watches loops that are cut.
class LoopObserver {
 public:
  using Clock = std::chrono::steady_clock;

  // The calling thread computed items [begin, end) of a loop. Any thread may call this, before the loop ends.
  virtual void Part(Clock::time_point from, Clock::time_point to, int64_t begin, int64_t end) = 0;

 protected:
  ~LoopObserver() = default;
};

class Parallel {
 public:
  // jobs: the most threads at work, fewer where the process may not have so many; 0:
  // one a core that it may use.
  explicit Parallel(int jobs = 1);
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  int jobs() const { return jobs_; }
  // body(begin, end) over disjoint parts of [0, n) of at least `grain` items (the last may be shorter), with
  // work stealing. One part is run on the caller's thread, and no thread is ever started for it. The body
  // must not touch the executor (Charge, NewLiteral): do that outside the loop. Between parts the guard is
  // polled, by every thread; so a part is to take less than 50 ms. Throws LoopEnded.
  void For(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end)> body);
  // Polls the guard where a part, or work without one, takes longer than that; from any thread.
  // Throws LoopEnded.
  void Poll() const;
  // Asks the guard, which outlives the loops. Null: nobody.
  void Watch(RunGuard* guard) { guard_ = guard; }
  // Tells the observer, which outlives the loops, of each part of a loop that is cut. Null: nobody.
  void Observe(LoopObserver* observer) { observer_ = observer; }

 private:
  struct Arena;
  int jobs_;
  RunGuard* guard_ = nullptr;
  LoopObserver* observer_ = nullptr;
  std::unique_ptr<Arena> arena_;  // made by the first loop with more than one part
};

}  // namespace assay

#endif  // ASSAY_BASE_PARALLEL_H_
