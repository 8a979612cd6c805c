#include "evaluator/native/tiers.h"

#include <atomic>

namespace assay::native {
namespace {

std::atomic<int64_t> sums, pairs, slices;

}  // namespace

TierCounts Tiers() { return {sums.load(), pairs.load(), slices.load()}; }

void CountTiers(const TierCounts& more) {
  sums.fetch_add(more.sums, std::memory_order_relaxed);
  pairs.fetch_add(more.pairs, std::memory_order_relaxed);
  slices.fetch_add(more.slices, std::memory_order_relaxed);
}

}  // namespace assay::native
