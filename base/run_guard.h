// What ends work before it is done: time, interruption, memory. A guard goes with a run of a program, and one
// around it with the command that reads the program and its inputs, plans, runs and writes,
// from the first byte to the last.
#ifndef ASSAY_BASE_RUN_GUARD_H_
#define ASSAY_BASE_RUN_GUARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/limits.h"
#include "base/memory_budget.h"

namespace assay {

class RunGuard {
 public:
  // Time starts now. `interrupted` is asked by one thread alone, BindThread's; true ends the work. `outer` is
  // asked as well, and its budget counts what this one's does.
  explicit RunGuard(const RunLimits& limits, std::function<bool()> interrupted = {},
                    std::shared_ptr<RunGuard> outer = nullptr);
  RunGuard(const RunGuard&) = delete;
  RunGuard& operator=(const RunGuard&) = delete;

  // Says why the work has to end, if it has to. To be called at least every 50 ms of work, from any thread,
  // and as often as one likes: it looks at a clock that costs a few nanoseconds,
  // and at anything else every few milliseconds.
  absl::Status Poll();
  // The work is to end with this error, whatever else: where a value was asked for without a way to say that
  // it could not be had (DeviceArray::Lost). The first one counts, for the guards around this one as well.
  void Fail(const absl::Status& why);
  // That error, or OK. Who gives out results of the work asks for it last.
  absl::Status Failure() const;
  // Nanoseconds of the clock that Poll looks at, which moves every few milliseconds.
  static int64_t RoughTime();
  // Makes the calling thread the one that asks `interrupted`: the one that made the guard, until then.
  void BindThread();

  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }
  const std::shared_ptr<RunGuard>& outer() const { return outer_; }

 private:
  absl::Status Look(bool bound);

  const double timeout_seconds_;
  const std::function<bool()> interrupted_;
  const std::shared_ptr<RunGuard> outer_;
  const std::shared_ptr<MemoryBudget> budget_;
  int64_t deadline_ = INT64_MAX;  // in nanoseconds of the monotonic clock
  std::atomic<std::thread::id> thread_;
  std::atomic<int64_t> next_look_{0};        // of the bound thread
  std::atomic<int64_t> next_other_look_{0};  // of the others
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  absl::Status failure_;  // guarded by mutex_
};

// While it lives, the guard that this thread's work outside of runs asks (PollWork), whose budget counts what
// that work makes (BudgetScope): reading and writing files, making inputs, planning.
class WorkScope {
 public:
  explicit WorkScope(std::shared_ptr<RunGuard> guard);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;
  static const std::shared_ptr<RunGuard>& Current();  // null: none

 private:
  std::shared_ptr<RunGuard> before_;
  BudgetScope budget_;
};

// Polls the guard of the scope; OK where there is none.
absl::Status PollWork();

}  // namespace assay

#endif  // ASSAY_BASE_RUN_GUARD_H_
