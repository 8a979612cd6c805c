#include "evaluator/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>

#include "evaluator/step_observer.h"

namespace assay {

struct Parallel::Arena {
  explicit Arena(int jobs) : limit(tbb::global_control::max_allowed_parallelism, jobs), arena(jobs) {}
  tbb::global_control limit;  // without it, more threads than cores are refused
  tbb::task_arena arena;
};

namespace {

// As tbb::info::default_concurrency has it, which first looks for an OpenMP library: longer than a small program takes.
int Cores() {
  cpu_set_t cores;
  if (sched_getaffinity(getpid(), sizeof(cores), &cores) != 0) return tbb::info::default_concurrency();
  return CPU_COUNT(&cores);
}

}  // namespace

Parallel::Parallel(int jobs) : jobs_(jobs > 0 ? jobs : Cores()) {}
Parallel::~Parallel() = default;

void Parallel::For(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (jobs_ == 1 || n <= grain) return body(0, n);
  if (arena_ == nullptr) arena_ = std::make_unique<Arena>(jobs_);
  const int64_t parts = (n + grain - 1) / grain;
  arena_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, parts), [&](const tbb::blocked_range<int64_t>& range) {
      // A worker has the float environment that its thread was started with, not the caller's.
      std::fenv_t saved;
      std::fegetenv(&saved);
      std::fesetenv(FE_DFL_ENV);
      const int64_t begin = range.begin() * grain, end = std::min(range.end() * grain, n);
      if (observer_ == nullptr) {
        body(begin, end);
      } else {
        const auto from = StepObserver::Clock::now();
        body(begin, end);
        observer_->Part(from, StepObserver::Clock::now(), begin, end);
      }
      std::fesetenv(&saved);
    });
  });
}

}  // namespace assay
