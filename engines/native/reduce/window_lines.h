// A reduce-window as lines: one dimension of the window slides (sliding_fold.h), the others select the rows
// whose elements are first folded together, element by element.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_WINDOW_LINES_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_WINDOW_LINES_H_

#include <optional>
#include <vector>

#include "engines/native/reduce/sliding_fold.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/window_axis.h"
#include "hlo/attribute.h"

namespace assay::native {

class WindowLines {
 public:
  // Empty where no dimension slides in a bounded number of steps.
  static std::optional<WindowLines> Of(const Window& window, const DimVector& sizes, const DimVector& strides,
                                       const DimVector& output_sizes, const DimVector& result_strides);

  int64_t lines() const { return static_cast<int64_t>(result_at_.size()); }
  const WindowLine& line() const { return line_; }
  int64_t stride() const { return stride_; }                // of the line's elements
  int64_t result_stride() const { return result_stride_; }  // of its outputs
  int64_t result_at(int64_t l) const { return result_at_[l]; }
  // Where the rows of line l start; none where its windows are empty.
  std::vector<int64_t> Rows(int64_t l) const;

 private:
  WindowLine line_;
  int64_t stride_ = 0, result_stride_ = 0;
  std::vector<int64_t> result_at_;
  // The other dimensions, in order.
  std::vector<WindowAxis> axes_;
  DimVector strides_, outputs_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_WINDOW_LINES_H_
