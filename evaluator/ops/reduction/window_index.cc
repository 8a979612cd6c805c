#include "evaluator/ops/reduction/window_index.h"

#include "base/checked.h"

namespace assay {

DimVector WindowEntries(const Window& window, std::span<const int64_t> sizes) {
  if (IndexWalk(sizes).done()) return DimVector(sizes.size(), 0);
  DimVector entries;
  for (const WindowDimension& d : window) entries.push_back(d.size);
  return entries;
}

bool ElementUnderWindow(const Window& window, Index position, Index entry, std::span<const int64_t> sizes,
                        std::span<int64_t> element) {
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDimension& w = window[d];
    // What has no p in 64 bits lies behind the array: the padded size has one.
    const std::optional<int64_t> p =
        CheckedSub(position[d] * w.stride + entry[d] * w.window_dilation, w.padding_low);
    if (!p || *p < 0 || *p % w.base_dilation != 0) return false;
    element[d] = *p / w.base_dilation;
    if (element[d] >= sizes[d]) return false;
  }
  return true;
}

}  // namespace assay
