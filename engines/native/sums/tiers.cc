#include "engines/native/sums/tiers.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace assay::native {
namespace {

std::atomic<int64_t> sums, pairs, slices;

struct ThreadTiers;

// The counts of threads that have ended, and of those that have not.
struct AllTiers {
  std::mutex mutex;
  FunctionTiers ended;
  std::vector<const ThreadTiers*> threads;
};
AllTiers& All() {
  static AllTiers& all = *new AllTiers;  // threads may end after static objects
  return all;
}

void Increase(std::atomic<int64_t>& count, int64_t more) {  // by its only writer
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}
void Add(FunctionTiers& sum, const FunctionTiers& more) {
  sum.elements += more.elements;
  sum.second += more.second;
  sum.reference += more.reference;
}

struct ThreadTiers {
  ThreadTiers() {
    const std::lock_guard lock(All().mutex);
    All().threads.push_back(this);
  }
  ~ThreadTiers() {
    const std::lock_guard lock(All().mutex);
    std::erase(All().threads, this);
    Add(All().ended, Read());
  }
  FunctionTiers Read() const { return {elements.load(), second.load(), reference.load()}; }
  std::atomic<int64_t> elements = 0, second = 0, reference = 0;
};
thread_local ThreadTiers thread_tiers;

}  // namespace

TierCounts Tiers() { return {sums.load(), pairs.load(), slices.load()}; }

void CountTiers(const TierCounts& more) {
  sums.fetch_add(more.sums, std::memory_order_relaxed);
  pairs.fetch_add(more.pairs, std::memory_order_relaxed);
  slices.fetch_add(more.slices, std::memory_order_relaxed);
}

FunctionTiers FunctionTierCounts() {
  const std::lock_guard lock(All().mutex);
  FunctionTiers sum = All().ended;
  for (const ThreadTiers* thread : All().threads) Add(sum, thread->Read());
  return sum;
}

void CountFunctionTiers(const FunctionTiers& more) {
  Increase(thread_tiers.elements, more.elements);
  Increase(thread_tiers.second, more.second);
  Increase(thread_tiers.reference, more.reference);
}

}  // namespace assay::native
