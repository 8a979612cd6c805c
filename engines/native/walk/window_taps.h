// The elements that each output of a window over several dimensions meets, output by output.
#ifndef ASSAY_ENGINES_NATIVE_WALK_WINDOW_TAPS_H_
#define ASSAY_ENGINES_NATIVE_WALK_WINDOW_TAPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engines/native/walk/window_axis.h"

namespace assay::native {

// One window offset that meets an element: where the element lies, and where what the window has for this
// offset (the weight of a convolution) lies.
struct Tap {
  int64_t base = 0, window = 0;
};

class WindowTaps {
 public:
  // How far one step along the axis goes among the elements, and in the window's own array.
  struct Dimension {
    WindowAxis axis;
    int64_t base_stride = 0, window_stride = 0;
  };
  // At least one dimension; the last one is that of the outputs of a row.
  explicit WindowTaps(std::vector<Dimension> dimensions);

  int64_t rows() const { return rows_; }  // of outputs, row-major over all dimensions but the last
  int64_t length() const { return dimensions_.back().axis.outputs(); }  // outputs of a row
  int64_t most() const { return most_; }                                // window offsets

  // The taps of a row without those of the last dimension, in row-major order of the window offsets.
  void OfRow(int64_t row, std::vector<Tap>& taps) const;
  // The taps of output l of the row with `of_row`, in that order, to room for most(); returns how many.
  int64_t OfOutput(std::span<const Tap> of_row, int64_t l, Tap* taps) const;

 private:
  // Dimensions of more outputs than this find them anew in each row.
  static constexpr int64_t kMostKept = 1 << 12;
  Progression At(size_t d, int64_t output) const {
    return kept_[d].empty() ? dimensions_[d].axis.AtOutput(output) : kept_[d][static_cast<size_t>(output)];
  }

  std::vector<Dimension> dimensions_;
  std::vector<std::vector<Progression>> kept_;  // by dimension and output; of the last dimension always
  int64_t rows_ = 1, most_ = 1;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WALK_WINDOW_TAPS_H_
