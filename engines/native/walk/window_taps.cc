#include "engines/native/walk/window_taps.h"

#include <utility>

namespace assay::native {

WindowTaps::WindowTaps(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  for (const Dimension& dimension : dimensions_) {
    const bool is_last = &dimension == &dimensions_.back();
    const WindowAxis& axis = dimension.axis;
    rows_ *= is_last ? 1 : axis.outputs();
    most_ *= axis.window_size();
    std::vector<Progression>& kept = kept_.emplace_back();
    if (!is_last && axis.outputs() > kMostKept) continue;
    kept.reserve(static_cast<size_t>(axis.outputs()));
    for (int64_t l = 0; l < axis.outputs(); ++l) kept.push_back(axis.AtOutput(l));
  }
}

void WindowTaps::OfRow(int64_t row, std::vector<Tap>& taps) const {
  taps.assign(1, {});
  int64_t rows = rows_;
  for (size_t d = 0; d + 1 < dimensions_.size(); ++d) {
    const auto& [axis, base_stride, window_stride] = dimensions_[d];
    rows /= axis.outputs();
    const Progression p = At(d, row / rows);
    row %= rows;
    const size_t outer = taps.size(), count = static_cast<size_t>(p.count);
    taps.resize(outer * count);
    if (count == 0) return;
    // From behind, as each tap becomes `count` of them where it stands and behind it.
    for (size_t o = outer; o-- > 0;) {
      const Tap tap = taps[o];
      for (size_t i = count; i-- > 0;) {
        const auto step = static_cast<int64_t>(i);
        taps[o * count + i] = {tap.base + (p.base + step * axis.base_step()) * base_stride,
                               tap.window + (p.first + step * axis.window_step()) * window_stride};
      }
    }
  }
}

int64_t WindowTaps::OfOutput(std::span<const Tap> of_row, int64_t l, Tap* taps) const {
  const auto& [axis, base_stride, window_stride] = dimensions_.back();
  const Progression& p = kept_.back()[static_cast<size_t>(l)];
  const int64_t base = p.base * base_stride, base_step = axis.base_step() * base_stride;
  const int64_t window = p.first * window_stride, window_step = axis.window_step() * window_stride;
  int64_t n = 0;
  for (const Tap& outer : of_row) {
    Tap tap = {outer.base + base, outer.window + window};
    for (int64_t i = 0; i < p.count; ++i) {
      taps[n++] = tap;
      tap.base += base_step;
      tap.window += window_step;
    }
  }
  return n;
}

}  // namespace assay::native
