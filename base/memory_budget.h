// What counts the bytes of live values against a limit.
#ifndef ASSAY_BASE_MEMORY_BUDGET_H_
#define ASSAY_BASE_MEMORY_BUDGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"

namespace assay {

// Counts the bytes of live values against a limit, and keeps the pages of large freed ones for the next of
// the same size: touching fresh pages costs more than most operations. live() and what is kept stay together
// within peak(). What is beyond that, and all of it at the end of the run, goes to the process's pool, which
// gives up as much as is mapped anew (page_pool.h). One per run; buffers keep it alive.
//
// What is counted is counted by the budget around it, too: that of the command which runs the program, say. A
// budget takes bytes of the outer one in advance, as counting each value twice takes a twentieth of a small
// step. Where the outer one comes to its limit it takes back what no value lies in,
// so nothing is refused that fits.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit, std::shared_ptr<MemoryBudget> outer = nullptr);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // False when `bytes` more would pass the limit, or one around it; nothing is counted then.
  bool Reserve(int64_t bytes) { return ReserveWithinGrant(bytes) || ReserveBeyondGrant(bytes); }
  void Release(int64_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Why Reserve refused: the limit that would be passed, of this budget or of one around it. OutOfMemory
  // where none is: the system had nothing to give.
  absl::Status Refusal(std::string_view what, int64_t bytes) const;
  int64_t live() const {
    return has_inner_.load(std::memory_order_relaxed) ? LiveWithoutSpare()
                                                      : live_.load(std::memory_order_relaxed);
  }
  // Of a budget with others in it, what those had taken in advance counts too.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }

  // The mapping of a freed array of exactly `bytes`, its old contents in it, of this run or of the process;
  // null when none is kept.
  void* TakePages(int64_t bytes);
  // Keeps the mapping of an array that is being freed, before its bytes are released.
  void KeepPages(void* mapping, int64_t bytes);
  // Gives everything kept to the process's pool, and what is freed from now on: the end of the run.
  void StopRecycling();
  int64_t recycled() const { return recycled_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kMaxPages = 16;
  struct Pages {
    void* mapping;
    int64_t bytes;
  };
  Pages Remove(size_t i);
  void GiveAway(size_t i);  // to the process's pool
  void DropBeyondPeak();

  bool ReserveWithinGrant(int64_t bytes) {
    int64_t live = live_.load(std::memory_order_relaxed);
    do {
      if (bytes > granted_.load(std::memory_order_relaxed) - live) return false;
    } while (!live_.compare_exchange_weak(live, live + bytes));
    live += bytes;
    if (outer_ != nullptr && live > granted_.load()) {  // taken back meanwhile (TakeBackSpare)
      Release(bytes);
      return false;
    }
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
    if (recycled() > 0) DropBeyondPeak();
    return true;
  }
  bool ReserveBeyondGrant(int64_t bytes);
  // These are called with the mutex of grants held.
  bool ReserveExactly(int64_t bytes);
  void TakeBackSpareOfInner();
  int64_t GiveUpSpare();  // how much it was
  int64_t LiveWithoutSpare() const;
  int64_t spare() const;

  const int64_t limit_;
  const std::shared_ptr<MemoryBudget> outer_;
  std::atomic<int64_t> live_{0};
  // What live_ may reach: the limit, or what the outer budget counts of this one.
  // It shrinks only while no value needs it.
  std::atomic<int64_t> granted_;
  std::atomic<int64_t> peak_{0};
  std::atomic<bool> has_inner_{false};
  absl::InlinedVector<MemoryBudget*, 2> inner_;  // guarded by the mutex of grants
  std::atomic<int64_t> recycled_{0};             // bytes of pages_
  std::mutex mutex_;                             // of pages_ and recycling_
  absl::InlinedVector<Pages, kMaxPages> pages_;  // oldest first; never grows, so freeing can't fail
  bool recycling_ = true;
};

// While it lives, arrays that this thread makes for no run in particular (inputs,
// constants, members of files) are counted by a budget.
class BudgetScope {
 public:
  explicit BudgetScope(std::shared_ptr<MemoryBudget> budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;
  // Null: nobody counts.
  static const std::shared_ptr<MemoryBudget>& Current();

 private:
  std::shared_ptr<MemoryBudget> before_;
};

}  // namespace assay

#endif  // ASSAY_BASE_MEMORY_BUDGET_H_
