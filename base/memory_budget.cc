#include "base/memory_budget.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/guard_pages.h"
#include "base/page_pool.h"
#include "fmt/format.h"

namespace assay {
namespace {

// What a budget takes of the outer one in advance, where there is as much: small programs then ask once.
constexpr int64_t kGrant = 1 << 18;

// Guards what budgets grant each other. One is enough for all: a run asks about once, and for large arrays.
constinit std::mutex grants_mutex;

thread_local std::shared_ptr<MemoryBudget> budget_of_scope;

}  // namespace

BudgetScope::BudgetScope(std::shared_ptr<MemoryBudget> budget)
    : before_(std::exchange(budget_of_scope, std::move(budget))) {}
BudgetScope::~BudgetScope() { budget_of_scope = std::move(before_); }
const std::shared_ptr<MemoryBudget>& BudgetScope::Current() { return budget_of_scope; }

MemoryBudget::MemoryBudget(int64_t limit, std::shared_ptr<MemoryBudget> outer)
    : limit_(limit), outer_(std::move(outer)), granted_(outer_ == nullptr ? limit : 0) {
  if (outer_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(grants_mutex);
  outer_->inner_.push_back(this);
  outer_->has_inner_.store(true, std::memory_order_relaxed);
}

MemoryBudget::~MemoryBudget() {
  StopRecycling();
  if (outer_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(grants_mutex);
  outer_->Release(granted_.load(std::memory_order_relaxed));
  outer_->inner_.erase(std::find(outer_->inner_.begin(), outer_->inner_.end(), this));
  outer_->has_inner_.store(!outer_->inner_.empty(), std::memory_order_relaxed);
}

bool MemoryBudget::ReserveBeyondGrant(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(grants_mutex);
  return ReserveExactly(bytes);
}

bool MemoryBudget::ReserveExactly(int64_t bytes) {
  // Other threads may take what is granted here before this one does.
  while (!ReserveWithinGrant(bytes)) {
    if (!inner_.empty()) {
      TakeBackSpareOfInner();
      if (ReserveWithinGrant(bytes)) return true;
    }
    const int64_t live = live_.load(std::memory_order_relaxed);
    const int64_t granted = granted_.load(std::memory_order_relaxed);
    if (outer_ == nullptr || bytes > limit_ - live) return false;
    const int64_t lacking = bytes - (granted - live);
    if (lacking <= 0) continue;
    const int64_t grant = std::min(std::max(lacking, kGrant), limit_ - granted);
    if (outer_->ReserveWithinGrant(grant)) {
      granted_.fetch_add(grant);
      continue;
    }
    // What is spare here goes back first: where the outer budget took it while it looks for room, what it
    // then grants would lack as much again, without end.
    outer_->Release(GiveUpSpare());
    const int64_t exactly = bytes - (granted_.load() - live_.load());
    if (exactly <= 0) continue;
    if (!outer_->ReserveExactly(exactly)) return false;
    granted_.fetch_add(exactly);
  }
  return true;
}

void MemoryBudget::TakeBackSpareOfInner() {
  for (MemoryBudget* inner : inner_) {
    inner->TakeBackSpareOfInner();
    Release(inner->GiveUpSpare());
  }
}

// A thread that reserves adds to live_, then looks at granted_; this one stores granted_, then looks at
// live_. So either that thread sees that its bytes were taken back, or this one sees that they are in use.
int64_t MemoryBudget::GiveUpSpare() {
  const int64_t granted = granted_.load(), live = std::min(live_.load(), granted);
  granted_.store(live);
  const int64_t in_use = std::clamp(live_.load(), live, granted);
  granted_.store(in_use);
  return granted - in_use;
}

int64_t MemoryBudget::LiveWithoutSpare() const {
  const std::lock_guard<std::mutex> lock(grants_mutex);
  int64_t live = live_.load(std::memory_order_relaxed);
  for (const MemoryBudget* inner : inner_) live -= inner->spare();
  return live;
}

int64_t MemoryBudget::spare() const {
  int64_t spare = granted_.load(std::memory_order_relaxed) - live_.load(std::memory_order_relaxed);
  for (const MemoryBudget* inner : inner_) spare += inner->spare();
  return spare;
}

absl::Status MemoryBudget::Refusal(std::string_view what, int64_t bytes) const {
  const int64_t counted = live();
  if (bytes > limit_ - counted)
    return MemoryLimitExceeded(what, CheckedAdd(counted, bytes).value_or(bytes), limit_);
  return outer_ != nullptr ? outer_->Refusal(what, bytes)
                           : OutOfMemory(fmt::format("{} of {}", what, Counted(bytes, "byte")));
}

void* MemoryBudget::TakePages(int64_t bytes) {
  if (recycled() >= bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = pages_.size(); i-- > 0;) {
      if (pages_[i].bytes == bytes) return Remove(i).mapping;
    }
  }
  return PagePool::OfProcess().Take(bytes);
}

void MemoryBudget::KeepPages(void* mapping, int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!recycling_) return PagePool::OfProcess().Keep(mapping, bytes);
  if (pages_.size() == kMaxPages) GiveAway(0);
  ASAN_POISON_MEMORY_REGION(mapping, MappingLength(bytes));
  pages_.push_back({mapping, bytes});
  recycled_.fetch_add(bytes, std::memory_order_relaxed);
}

MemoryBudget::Pages MemoryBudget::Remove(size_t i) {
  const Pages pages = pages_[i];
  pages_.erase(pages_.begin() + static_cast<ptrdiff_t>(i));
  recycled_.fetch_sub(pages.bytes, std::memory_order_relaxed);
  ASAN_UNPOISON_MEMORY_REGION(pages.mapping, MappingLength(pages.bytes));
  return pages;
}

void MemoryBudget::GiveAway(size_t i) {
  const Pages pages = Remove(i);
  PagePool::OfProcess().Keep(pages.mapping, pages.bytes);
}

void MemoryBudget::DropBeyondPeak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!pages_.empty() && recycled() > peak() - live_.load(std::memory_order_relaxed)) GiveAway(0);
}

void MemoryBudget::StopRecycling() {
  const std::lock_guard<std::mutex> lock(mutex_);
  recycling_ = false;
  while (!pages_.empty()) GiveAway(0);
}

}  // namespace assay
