#include "engines/native/reduce/window_lines.h"

#include "engines/native/sums/row_source.h"

namespace assay::native {

std::optional<WindowLines> WindowLines::Of(const Window& window, const DimVector& sizes,
                                           const DimVector& strides, const DimVector& output_sizes,
                                           const DimVector& result_strides) {
  const int64_t rank = static_cast<int64_t>(sizes.size());
  // The longest window of those that slide; the last one of several.
  int64_t sliding = -1;
  for (int64_t d = 0; d < rank; ++d) {
    if (window[d].base_dilation != 1 || (window[d].window_dilation != 1 && window[d].size != 1)) continue;
    if (sliding < 0 || window[d].size >= window[sliding].size) sliding = d;
  }
  if (sliding < 0) return std::nullopt;
  WindowLines lines;
  const WindowDimension& w = window[sliding];
  lines.line_ = {sizes[sliding], w.size, w.stride, w.padding_low, output_sizes[sliding]};
  const int64_t real = sizes[sliding] + output_sizes[sliding] + 1024;
  if (w.stride > 8 * real || w.size > 8 * real || w.padding_low > 8 * real || w.padding_low < -8 * real) {
    return std::nullopt;
  }
  if (lines.line_.steps() > 32 * real) return std::nullopt;
  lines.stride_ = strides[sliding];
  lines.result_stride_ = result_strides[sliding];
  LoopDims outputs;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == sliding) continue;
    lines.axes_.emplace_back(sizes[d], window[d], output_sizes[d]);
    lines.strides_.push_back(strides[d]);
    lines.outputs_.push_back(output_sizes[d]);
    outputs.push_back({output_sizes[d], {result_strides[d]}});
  }
  lines.result_at_ = OffsetsOf(outputs, 0);
  return lines;
}

std::vector<int64_t> WindowLines::Rows(int64_t l) const {
  LoopDims box;
  int64_t base = 0;
  for (size_t d = axes_.size(); d-- > 0;) {
    const Progression p = axes_[d].AtOutput(l % outputs_[d]);
    l /= outputs_[d];
    base += p.base * strides_[d];
    box.insert(box.begin(), {p.count, {axes_[d].base_step() * strides_[d]}});
  }
  std::vector<int64_t> rows = OffsetsOf(box, 0);
  for (int64_t& row : rows) row += base;
  return rows;
}

}  // namespace assay::native
