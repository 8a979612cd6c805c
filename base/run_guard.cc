#include "base/run_guard.h"

#include <unistd.h>

#include <ctime>
#include <utility>

#include "fmt/format.h"

namespace assay {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBetweenLooks = kSecond / 250;

int64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

int64_t DefaultMemoryLimit() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_size > 0 ? pages / 4 * 3 * page_size : int64_t{1} << 62;
}

thread_local std::shared_ptr<RunGuard> guard_of_scope;

}  // namespace

RunGuard::RunGuard(const RunLimits& limits, std::function<bool()> interrupted,
                   std::shared_ptr<RunGuard> outer)
    : timeout_seconds_(limits.timeout_seconds),
      interrupted_(std::move(interrupted)),
      outer_(std::move(outer)),
      budget_(std::make_shared<MemoryBudget>(limits.memory_limit > 0 ? limits.memory_limit
                                             : outer_ != nullptr     ? outer_->budget()->limit()
                                                                     : DefaultMemoryLimit(),
                                             outer_ != nullptr ? outer_->budget() : nullptr)),
      thread_(std::this_thread::get_id()) {
  // 10^9 seconds, the most that flags allow, are far from the end of the clock.
  if (timeout_seconds_ > 0 && timeout_seconds_ < 4e9)
    deadline_ = Nanoseconds(CLOCK_MONOTONIC) + static_cast<int64_t>(timeout_seconds_ * kSecond);
}

int64_t RunGuard::RoughTime() { return Nanoseconds(CLOCK_MONOTONIC_COARSE); }

void RunGuard::BindThread() {
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (outer_ != nullptr) outer_->BindThread();
}

absl::Status RunGuard::Poll() {
  const bool bound = thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  std::atomic<int64_t>& next = bound ? next_look_ : next_other_look_;
  const int64_t now = RoughTime();
  if (now < next.load(std::memory_order_relaxed)) return absl::OkStatus();
  next.store(now + kBetweenLooks, std::memory_order_relaxed);
  return Look(bound);
}

void RunGuard::Fail(const absl::Status& why) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = why;
  }
  failed_.store(true, std::memory_order_release);
  if (outer_ != nullptr) outer_->Fail(why);
}

absl::Status RunGuard::Failure() const {
  if (failed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  return outer_ == nullptr ? absl::OkStatus() : outer_->Failure();
}

absl::Status RunGuard::Look(bool bound) {
  ASSAY_RETURN_IF_ERROR(Failure());
  if (Nanoseconds(CLOCK_MONOTONIC) > deadline_) {
    return absl::ResourceExhaustedError(
        fmt::format("timeout after {} seconds (--timeout)", timeout_seconds_));
  }
  if (bound && interrupted_ && interrupted_()) return absl::CancelledError("interrupted");
  return outer_ == nullptr ? absl::OkStatus() : outer_->Poll();
}

WorkScope::WorkScope(std::shared_ptr<RunGuard> guard)
    : before_(std::exchange(guard_of_scope, std::move(guard))),
      budget_(guard_of_scope != nullptr ? guard_of_scope->budget() : nullptr) {}
WorkScope::~WorkScope() { guard_of_scope = std::move(before_); }
const std::shared_ptr<RunGuard>& WorkScope::Current() { return guard_of_scope; }

absl::Status PollWork() { return guard_of_scope == nullptr ? absl::OkStatus() : guard_of_scope->Poll(); }

}  // namespace assay
