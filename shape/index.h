// Index arithmetic over row-major arrays: strides, and walking an index space in runs.
//
// Logical enumeration order is lexicographic by dimension number, dimension 0 outermost, whatever the
// layout (INDEX-3). Literals are stored in that order, so "row-major position" and "logical order" agree.
#ifndef ASSAY_SHAPE_INDEX_H_
#define ASSAY_SHAPE_INDEX_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "shape/shape.h"

namespace assay {

// strides[d] = product of sizes[d+1..]; in elements.
DimVector RowMajorStrides(std::span<const int64_t> sizes);
// The position of an index under strides: sum of index[d] * strides[d].
int64_t LinearPosition(std::span<const int64_t> index, std::span<const int64_t> strides);
// Advances `index` in row-major order; false after the last one (index is then all zero again).
bool NextIndex(std::span<const int64_t> sizes, std::span<int64_t> index);
// The index at a row-major position.
void IndexOfPosition(int64_t position, std::span<const int64_t> sizes, std::span<int64_t> index);

// An affine map from an index of a walked space to an element offset: base + sum index[d] * strides[d].
// Strides may be 0 (broadcast) or negative (reverse).
struct AffineMap {
  int64_t base = 0;
  DimVector strides;
};

// Walks the index space `sizes` in row-major order and gives, for up to kMaxMaps maps at once, the offsets
// of the first element of each innermost run, the maps' strides inside the run, and the run's length.
// Neighbouring dimensions that are contiguous in every map are merged first, so runs are as long as they
// can be. An empty space gives no run; rank 0 gives one run of length 1.
inline constexpr int kMaxMaps = 6;
using RunFn = absl::FunctionRef<void(const int64_t* offsets, const int64_t* strides, int64_t length)>;
void ForEachRun(std::span<const int64_t> sizes, std::span<const AffineMap> maps, RunFn run);

// Dimensions of a window (docs/spec/operations-linalg.md, ReduceWindow): padding may be negative.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t base_dilation = 1;    // lhs_dilate
  int64_t window_dilation = 1;  // rhs_dilate
  bool reversal = false;
  friend bool operator==(const WindowDimension&, const WindowDimension&) = default;
};

// (n - 1) * factor + 1, or 0 for n = 0; nullopt on overflow or a negative n.
std::optional<int64_t> DilatedSize(int64_t n, int64_t factor);
// Number of window positions over a base of `size`; nullopt on overflow or a negative padded size:
//   padded = low + dil(size) + high;  padded == 0 or win > padded ? 0 : (padded - win) div stride + 1
std::optional<int64_t> WindowOutputSize(int64_t size, const WindowDimension& window);
// The base index under window position `output` and window offset `k`, or -1 where that is padding or a hole.
inline int64_t WindowBaseIndex(int64_t output, int64_t k, int64_t size, const WindowDimension& w) {
  const int64_t p = output * w.stride + k * w.window_dilation - w.padding_low;
  if (p < 0) return -1;
  if (w.base_dilation == 1) return p < size ? p : -1;
  return p % w.base_dilation == 0 && p / w.base_dilation < size ? p / w.base_dilation : -1;
}

}  // namespace assay

#endif  // ASSAY_SHAPE_INDEX_H_
