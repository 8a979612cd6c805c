// Cumulative sums of f32 as integers in one or two units that divide every term (fixed_units.h): exact, and
// rounded once each.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_PREFIX_SUMS_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_PREFIX_SUMS_H_

#include <vector>

#include "absl/numeric/int128.h"
#include "base/parallel.h"
#include "engines/native/reduce/window_lines.h"
#include "engines/native/sums/fixed_kernels.h"

namespace assay::native {

class PrefixSums {
 public:
  // `lines` must outlive it.
  PrefixSums(const FixedKernels& kernels, const WindowLines& lines, ElementType type, const std::byte* input,
             const std::byte* init, std::byte* result);

  // Line l, cut into parts for the threads; false, and nothing is written, where this is for window_add.h.
  bool Run(Parallel& parallel, int64_t l) const;

 private:
  struct Line;
  // These sum by integers in one unit, and in two.
  bool Simple(Parallel& parallel, const Line& line) const;
  bool Split(Parallel& parallel, const Line& line) const;
  bool Starts(const Line& line, absl::int128 most, std::vector<absl::int128>& sums) const;
  // Block b, whose first sum comes from `sum`.
  void OneByOne(const Line& line, int64_t b, absl::int128 sum) const;

  const FixedKernels& kernels_;
  const WindowLines& lines_;
  bool forward_ = false, backward_ = false;  // whether window o is elements [0, o], or all from o on
  const float* input_;
  float init_ = 0;
  float* result_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_PREFIX_SUMS_H_
