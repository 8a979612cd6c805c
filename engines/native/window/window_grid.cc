#include "engines/native/window/window_grid.h"

#include <algorithm>

#include "engines/native/walk/loops.h"
#include "shape/index.h"

namespace assay::native {
namespace {

constexpr int64_t kResultsOfTile = 2048;            // that stay in the first cache with what they fold
constexpr int64_t kFoldsOfTile = int64_t{1} << 22;  // between two charges at least
constexpr int64_t kMaxOffsets = int64_t{1} << 16;

struct AxisWork {
  int64_t folds = 0;             // pairs of result and element
  int64_t first = 0, last = -1;  // of the window offsets that meet an element
  int64_t most = 0;              // elements of one result, or more

  int64_t offsets() const { return std::max<int64_t>(last - first + 1, 0); }
};

void Meet(int64_t first, int64_t last, int64_t count, AxisWork& work) {
  work.first = std::min(work.first, first);
  work.last = std::max(work.last, last);
  work.folds += count;
}

// Goes by outputs or by offsets, whichever are fewer.
AxisWork WorkOf(const WindowAxis& axis) {
  AxisWork work{.first = axis.window_size()};
  if (axis.outputs() < axis.window_size()) {
    for (int64_t o = 0; o < axis.outputs(); ++o) {
      const Progression p = axis.AtOutput(o);
      if (p.count == 0) continue;
      Meet(p.first, p.first + (p.count - 1) * axis.window_step(), p.count, work);
      work.most = std::max(work.most, p.count);
    }
  } else {
    for (int64_t k = 0; k < axis.window_size(); ++k) {
      const Progression p = axis.AtOffset(k);
      if (p.count == 0) continue;
      Meet(k, k, p.count, work);
      ++work.most;
    }
  }
  return work;
}

int64_t CeilDivOrZero(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : 0; }

}  // namespace

bool IsIdentityWindow(const WindowDimension& d, int64_t size, int64_t outputs) {
  return d.size == 1 && d.stride == 1 && d.padding_low == 0 && d.base_dilation == 1 && size == outputs;
}

std::optional<WindowGrid> WindowGrid::Of(const Window& window, const DimVector& sizes,
                                         const DimVector& output_sizes) {
  WindowGrid grid;
  const DimVector strides = RowMajorStrides(sizes);
  size_t last = window.size() - 1;
  while (last > 0 && IsIdentityWindow(window[last], sizes[last], output_sizes[last])) --last;
  for (size_t d = last + 1; d < window.size(); ++d) grid.features_ *= sizes[d];
  for (size_t d = 0; d <= last; ++d) {
    grid.axes_.emplace_back(sizes[d], window[d], output_sizes[d]);
    grid.strides_.push_back(strides[d]);
    if (d < last) grid.lines_ *= output_sizes[d];
  }
  grid.length_ = output_sizes[last];
  if (window[last].size > kMaxOffsets || !grid.CountWork(output_sizes)) return std::nullopt;
  int64_t met = 0;
  for (int64_t k = 0; k < window[last].size; ++k) {
    grid.offsets_.push_back(grid.axes_[last].AtOffset(k));
    met += grid.offsets_.back().count;
  }
  if (met + 64 < window[last].size) return std::nullopt;
  return grid;
}

// Sets what is counted, and the tiles; false where a result folds too much.
bool WindowGrid::CountWork(const DimVector& output_sizes) {
  std::vector<AxisWork> works;
  for (const WindowAxis& axis : axes_) works.push_back(WorkOf(axis));
  for (size_t d = axes_.size(); d < output_sizes.size(); ++d)
    works.push_back({.folds = output_sizes[d], .first = 0, .last = 0, .most = 1});
  // The reference folds along the longest dimension at once, or, where that is mostly empty,
  // each result alone.
  const auto longest =
      static_cast<size_t>(std::max_element(output_sizes.begin(), output_sizes.end()) - output_sizes.begin());
  absl::int128 most = 1, rows = 1;
  folds_ = 1;
  for (size_t d = 0; d < works.size(); ++d) {
    folds_ *= works[d].folds;
    most *= works[d].most;
    const bool at_once = d == longest && works[d].offsets() <= works[d].folds;
    rows *= at_once ? works[d].offsets() : works[d].folds;
    if (most > kFoldsOfTile || folds_ > absl::int128(int64_t{1} << 60)) return false;
  }
  work_ = folds_ + rows;
  const int64_t results =
      std::clamp<int64_t>(kFoldsOfTile / std::max<int64_t>(static_cast<int64_t>(most), 1), 1, kResultsOfTile);
  f_step_ = std::min(features_, results);
  l_step_ = std::clamp<int64_t>(results / f_step_, 1, length_);
  tiles_of_row_ = CeilDivOrZero(features_, f_step_);
  tiles_of_line_ = CeilDivOrZero(length_, l_step_) * tiles_of_row_;
  return true;
}

WindowGrid::Tile WindowGrid::TileAt(int64_t tile) const {
  const int64_t line = tile / tiles_of_line_, l = tile % tiles_of_line_ / tiles_of_row_ * l_step_,
                f = tile % tiles_of_row_ * f_step_;
  return {line, l, std::min(l + l_step_, length_), f, std::min(f + f_step_, features_)};
}

WindowBlock WindowGrid::Results(int64_t tile) const {
  const Tile t = TileAt(tile);
  WindowBlock block{.count = t.l_end - t.l_begin, .width = t.f_end - t.f_begin};
  block.to = (t.line * length_ + t.l_begin) * features_ + t.f_begin;
  block.to_step = features_;
  return block;
}

void WindowGrid::ForEachBlock(int64_t tile, absl::FunctionRef<void(const WindowBlock&)> fold) const {
  const Tile t = TileAt(tile);
  LoopDims box;
  int64_t base = 0, line = t.line;
  for (size_t d = axes_.size() - 1; d-- > 0;) {
    const Progression p = axes_[d].AtOutput(line % axes_[d].outputs());
    line /= axes_[d].outputs();
    base += p.base * strides_[d];
    box.insert(box.begin(), {p.count, {axes_[d].base_step() * strides_[d]}});
  }
  for (LoopNest w(box); !w.done(); w.Next()) ForEachOffset(t, base + w.offset(0), fold);
}

void WindowGrid::ForEachOffset(const Tile& t, int64_t base,
                               absl::FunctionRef<void(const WindowBlock&)> fold) const {
  const WindowAxis& axis = axes_.back();
  const int64_t stride = strides_.back();
  WindowBlock block{.width = t.f_end - t.f_begin};
  const int64_t to = t.line * length_ * features_ + t.f_begin;
  if (t.l_end - t.l_begin == 1) {
    const Progression p = axis.AtOutput(t.l_begin);
    block.count = p.count;
    block.from = base + p.base * stride + t.f_begin;
    block.from_step = axis.base_step() * stride;
    block.to = to + t.l_begin * features_;
    if (p.count > 0) fold(block);
    return;
  }
  const int64_t step = axis.output_step();
  block.from_step = axis.output_base_step() * stride;
  block.to_step = step * features_;
  for (const Progression& p : offsets_) {
    const int64_t first = CeilDivOrZero(t.l_begin - p.first, step),
                  end = std::min(p.count, CeilDivOrZero(t.l_end - p.first, step));
    if (first >= end) continue;
    block.count = end - first;
    block.from = base + (p.base + first * axis.output_base_step()) * stride + t.f_begin;
    block.to = to + (p.first + first * step) * features_;
    fold(block);
  }
}

}  // namespace assay::native
