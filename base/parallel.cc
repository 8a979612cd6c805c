#include "base/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#ifdef ASSAY_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/run_guard.h"

namespace assay {

// Which thread runs a part of a loop, and when, is open. Bodies write what follows from their part alone, so
// that no result shows it (NUM-11).
struct Parallel::Arena {
  explicit Arena(int jobs) : limit(tbb::global_control::max_allowed_parallelism, jobs), arena(jobs) {}
  tbb::global_control limit;  // without it, more threads than cores are refused
  tbb::task_arena arena;
};

namespace {

// What tbb::info::default_concurrency gives; that looks for an OpenMP library first:
// longer than a small program takes.
int Cores() {
  cpu_set_t cores;
  if (sched_getaffinity(getpid(), sizeof(cores), &cores) != 0) return tbb::info::default_concurrency();
  return CPU_COUNT(&cores);
}

// Threads that wait for each other.
struct Gate {
  std::atomic<int> arrived = 0;
  std::atomic<bool> open = false;
};

void* WaitAtGate(void* state) {
  Gate& gate = *static_cast<Gate*>(state);
  void* volatile any = std::malloc(1);  // reserves the thread's part of the address space
  std::free(any);
  gate.arrived.fetch_add(1);
  gate.arrived.notify_one();
  gate.open.wait(false);
  return nullptr;
}

// How many of `wanted` threads can be at work. TBB ends the process where a thread can't be made
// (a limit on processes or on address space); so some more are made here first, all at once, and half of what
// could be made is used where that was not all. What could be made once is not asked for again.
int ThreadsToBeHad(int wanted) {
  static std::atomic<int> known_good = 1;
  if (wanted <= known_good) return wanted;
  const int tried = wanted + 2 + wanted / 8;  // room for what else the threads take
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 1;
  pthread_attr_setstacksize(&attributes,
                            tbb::global_control::active_value(tbb::global_control::thread_stack_size));
  Gate gate;
  std::vector<pthread_t> threads;
  threads.reserve(static_cast<size_t>(tried));
  pthread_t thread;
  while (static_cast<int>(threads.size()) < tried - 1 &&
         pthread_create(&thread, &attributes, WaitAtGate, &gate) == 0) {
    gate.arrived.wait(static_cast<int>(threads.size()));
    threads.push_back(thread);
  }
  gate.open = true;
  gate.open.notify_all();
  for (const pthread_t made : threads) pthread_join(made, nullptr);
  pthread_attr_destroy(&attributes);
  const int had = static_cast<int>(threads.size()) + 1;
  if (had < tried) return std::clamp(had / 2, 1, wanted);
  known_good = wanted;
  return wanted;
}

// What TBB promises and the thread sanitizer doesn't see, as TBB and this file are compiled without it
// (CMakeLists.txt): what came before For comes before every call of the body, and that before what follows.
struct ForOrder {
#ifdef ASSAY_TSAN
  void Start() { __tsan_release(&start); }
  void BeginPart() { __tsan_acquire(&start); }
  void EndPart() { __tsan_release(&end); }
  void End() { __tsan_acquire(&end); }
  char start = 0, end = 0;
#else
  void Start() {}
  void BeginPart() {}
  void EndPart() {}
  void End() {}
#endif
};

// The parts of one loop, cut smaller where a guard has to be polled between them.
class GuardedParts {
 public:
  GuardedParts(RunGuard* guard, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body)
      : guard_(guard), grain_(grain), body_(body) {}

  // Pieces begin with one grain, and grow to a few where they take less time than the guard's clock shows, so
  // that what a kernel prepares for a piece costs little.
  void Run(int64_t begin, int64_t end) {
    if (guard_ == nullptr) return body_(begin, end);
    constexpr int64_t kMaxGrains = 8;
    int64_t grains = 1, time = RunGuard::RoughTime();
    while (!ended_.load(std::memory_order_relaxed)) {
      const int64_t to = (end - begin) / grains > grain_ ? begin + grains * grain_ : end;
      body_(begin, to);
      if (to == end) return;
      begin = to;
      grains = std::min(2 * grains, kMaxGrains);
      if (const int64_t now = RunGuard::RoughTime(); now != time) {
        time = now;
        grains = 1;
        if (absl::Status status = guard_->Poll(); !status.ok()) End(std::move(status));
      }
    }
  }
  // To be called behind the loop.
  void ThrowIfEnded() {
    if (ended_) throw LoopEnded{std::move(why_)};
  }

 private:
  void End(absl::Status why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ended_) why_ = std::move(why);
    ended_ = true;
  }

  RunGuard* const guard_;
  const int64_t grain_;
  const absl::FunctionRef<void(int64_t, int64_t)> body_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;  // of why_
  absl::Status why_;
};

}  // namespace

Parallel::Parallel(int jobs) : jobs_(jobs > 0 ? jobs : Cores()) {}
Parallel::~Parallel() = default;

void Parallel::Poll() const {
  if (guard_ == nullptr) return;
  if (absl::Status status = guard_->Poll(); !status.ok()) throw LoopEnded{std::move(status)};
}

void Parallel::For(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) return body(0, n);
  if (jobs_ > 1 && arena_ == nullptr) {
    jobs_ = ThreadsToBeHad(jobs_);
    if (jobs_ > 1) arena_ = std::make_unique<Arena>(jobs_);
  }
  GuardedParts guarded(guard_, grain, body);
  if (jobs_ == 1) {
    guarded.Run(0, n);
    return guarded.ThrowIfEnded();
  }
  const int64_t parts = (n + grain - 1) / grain;
  ForOrder order;
  order.Start();
  arena_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, parts), [&](const tbb::blocked_range<int64_t>& range) {
      // A worker has the float environment that its thread was started with, not the caller's.
      std::fenv_t saved;
      std::fegetenv(&saved);
      std::fesetenv(FE_DFL_ENV);
      order.BeginPart();
      const int64_t begin = range.begin() * grain, end = std::min(range.end() * grain, n);
      if (observer_ == nullptr) {
        guarded.Run(begin, end);
      } else {
        const auto from = LoopObserver::Clock::now();
        guarded.Run(begin, end);
        observer_->Part(from, LoopObserver::Clock::now(), begin, end);
      }
      order.EndPart();
      std::fesetenv(&saved);
    });
  });
  order.End();
  guarded.ThrowIfEnded();
}

}  // namespace assay
