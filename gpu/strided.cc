#include "gpu/strided.h"

#include <algorithm>

#include "shape/index.h"

namespace assay::gpu {

std::vector<Axis> Merged(std::span<const Axis> axes) {
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    if (!merged.empty() && merged.back().strides[0] == axis.size * axis.strides[0] &&
        merged.back().strides[1] == axis.size * axis.strides[1]) {
      merged.back() = {merged.back().size * axis.size, {axis.strides[0], axis.strides[1]}};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

std::optional<Strides> StridesOf(std::span<const Axis> axes, int64_t* second) {
  const std::vector<Axis> merged = Merged(axes);
  if (merged.size() > kMaxDimensions) return std::nullopt;
  Strides strides{};
  strides.rank = static_cast<int32_t>(merged.size());
  for (size_t d = 0; d < merged.size(); ++d) {
    strides.sizes[d] = merged[d].size;
    strides.strides[d] = merged[d].strides[0];
    if (second != nullptr) second[d] = merged[d].strides[1];
  }
  return strides;
}

std::vector<Axis> AxesOf(std::span<const int64_t> sizes, std::span<const int64_t> dimensions) {
  const DimVector strides = RowMajorStrides(sizes);
  std::vector<Axis> axes;
  for (int64_t d : dimensions)
    axes.push_back({sizes[static_cast<size_t>(d)], {strides[static_cast<size_t>(d)], 0}});
  return axes;
}

}  // namespace assay::gpu
