#include "gpu/box.h"

#include <algorithm>

namespace assay::gpu {
namespace {

// Outermost first: in the order in which results stand in memory. Sizes of 1 go; neighbours that walk on are
// one.
std::vector<BoxAxis> MergedBox(std::vector<BoxAxis> axes) {
  std::erase_if(axes, [](const BoxAxis& axis) { return axis.size == 1; });
  std::stable_sort(axes.begin(), axes.end(), [](const BoxAxis& x, const BoxAxis& y) { return x.to > y.to; });
  std::vector<BoxAxis> merged;
  for (const BoxAxis& axis : axes) {
    BoxAxis* const outer = merged.empty() ? nullptr : &merged.back();
    if (outer != nullptr && outer->from == axis.size * axis.from && outer->to == axis.size * axis.to &&
        outer->index == axis.size * axis.index) {
      *outer = {outer->size * axis.size, axis.from, axis.to, axis.index};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

// How many neighbouring elements of the innermost dimension, a power of two, may be moved as one.
int64_t JoinedElements(const std::vector<BoxAxis>& axes, int64_t bytes, std::span<const int64_t> offsets) {
  constexpr int64_t kMostBytes = 16;
  if (axes.empty()) return 1;
  const BoxAxis& inner = axes.back();
  if (inner.from != 1 || inner.to != 1 || inner.index != 0) return 1;
  int64_t joined = 1;
  const auto divides = [&](int64_t by) {
    return inner.size % by == 0 &&
           std::all_of(axes.begin(), axes.end() - 1,
                       [&](const BoxAxis& axis) { return axis.from % by == 0 && axis.to % by == 0; }) &&
           std::all_of(offsets.begin(), offsets.end(), [&](int64_t offset) { return offset % by == 0; });
  };
  while (2 * joined * bytes <= kMostBytes && divides(2 * joined)) joined *= 2;
  return joined;
}

}  // namespace

std::optional<BoxPlan> BoxPlanOf(std::vector<BoxAxis> axes, int64_t bytes, std::span<const int64_t> offsets) {
  constexpr int64_t kMostElements = (int64_t{1} << 31) - 1;
  const std::vector<BoxAxis> merged = MergedBox(std::move(axes));
  if (merged.size() > kMaxDimensions) return std::nullopt;
  BoxPlan plan;
  plan.joined = JoinedElements(merged, bytes, offsets);
  plan.bytes = bytes * plan.joined;
  int64_t count = 1;
  for (size_t d = 0; d < merged.size(); ++d) {
    BoxAxis axis = merged[merged.size() - 1 - d];
    if (d == 0 && plan.joined > 1) {
      axis.size /= plan.joined;
    } else {
      axis.from /= plan.joined;
      axis.to /= plan.joined;
    }
    if (axis.size > kMostElements / std::max<int64_t>(1, count)) return std::nullopt;
    count *= axis.size;
    plan.arguments.dimensions[d] = {DivisorOf(static_cast<uint32_t>(std::max<int64_t>(1, axis.size))),
                                    axis.from, axis.to, axis.index};
  }
  plan.arguments.rank = static_cast<int32_t>(merged.size());
  plan.arguments.count = static_cast<uint32_t>(count);
  return plan;
}

}  // namespace assay::gpu
