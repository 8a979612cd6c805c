// The results of a reduce-window, cut into tiles, and which elements each of them folds in which order.
//
// Dimensions behind the last one that has a window worth the name are one run of neighbours, the features:
// window offset for window offset, results that are neighbours fold elements that are. With O outer results,
// L of the last window's dimension and F features, result (o, l, f) is at (o L + l) F + f.
// A tile is a range of l and f for one o.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_GRID_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_GRID_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/window_axis.h"
#include "hlo/attribute.h"

namespace assay::native {

// Some results that fold one element each, at a time: for i < count and f < width, result to + i to_step + f
// folds element from + i from_step + f. Where to_step is 0 one result folds all of them, in order.
struct WindowBlock {
  int64_t count = 0, width = 0;
  int64_t from = 0, from_step = 0;
  int64_t to = 0, to_step = 0;
};

// Whether along a dimension of so many elements and outputs every output is of the element at its own
// position.
bool IsIdentityWindow(const WindowDimension& d, int64_t size, int64_t outputs);

class WindowGrid {
 public:
  // Takes row-major arrays of rank 1 and more with elements. Empty where most window offsets meet nothing, or
  // one result folds more elements than are worth a tile; these are the reference's.
  static std::optional<WindowGrid> Of(const Window& window, const DimVector& sizes,
                                      const DimVector& output_sizes);

  int64_t tiles() const { return lines_ * tiles_of_line_; }
  // Elements folded, by all results; and what the reference counts for them,
  // with one for each row that it folds at once.
  absl::int128 folds() const { return folds_; }
  absl::int128 work() const { return work_; }
  int64_t most_results() const { return l_step_ * f_step_; }  // of a tile
  // The tile's results, all side by side: `count` rows of `width`, to_step apart.
  WindowBlock Results(int64_t tile) const;
  // What a tile's results fold, in the order in which each result does.
  void ForEachBlock(int64_t tile, absl::FunctionRef<void(const WindowBlock&)> fold) const;

 private:
  struct Tile {
    int64_t line, l_begin, l_end, f_begin, f_end;
  };
  Tile TileAt(int64_t tile) const;
  bool CountWork(const DimVector& output_sizes);
  void ForEachOffset(const Tile& tile, int64_t base, absl::FunctionRef<void(const WindowBlock&)> fold) const;

  std::vector<WindowAxis> axes_;      // of the outer dimensions, and the last window's
  DimVector strides_;                 // of their elements
  std::vector<Progression> offsets_;  // of the last window's dimension: by window offset, its outputs
  int64_t lines_ = 1, length_ = 1, features_ = 1;
  int64_t l_step_ = 1, f_step_ = 1;  // of tiles
  int64_t tiles_of_line_ = 1, tiles_of_row_ = 1;
  absl::int128 folds_ = 0, work_ = 0;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_GRID_H_
