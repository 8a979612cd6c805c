// One dimension of a window sliding over a base (docs/spec/operations-linalg.md, ReduceWindow): which window
// offsets meet base elements. Both directions are arithmetic progressions, computed without a search, so
// ops walk only what contributes.
//
//   p = output * stride + k * window_dilation - padding_low
//   k contributes iff p >= 0, p mod base_dilation == 0 and p div base_dilation < size
#ifndef ASSAY_ENGINES_NATIVE_WALK_WINDOW_AXIS_H_
#define ASSAY_ENGINES_NATIVE_WALK_WINDOW_AXIS_H_

#include <cstdint>

#include "shape/index.h"

namespace assay::native {

// `count` pairs: (first, base), (first + step, base + base_step), … where the steps are the axis's.
struct Progression {
  int64_t first = 0;  // window offset, or output position
  int64_t base = 0;   // base index
  int64_t count = 0;
};

class WindowAxis {
 public:
  WindowAxis(int64_t base_size, const WindowDimension& window, int64_t outputs);
  int64_t outputs() const { return outputs_; }
  int64_t window_size() const { return window_.size; }

  // The window offsets k, ascending, that meet the base at one output; consecutive ones differ by
  // window_step() and their base indices by base_step().
  Progression AtOutput(int64_t output) const {
    return Meet(output, window_.stride, window_.window_dilation, window_.size, window_congruence_);
  }
  int64_t window_step() const { return window_congruence_.step; }
  int64_t base_step() const { return window_congruence_.quotient; }

  // The outputs, ascending, at which window offset k meets the base.
  Progression AtOffset(int64_t k) const {
    return Meet(k, window_.window_dilation, window_.stride, outputs_, output_congruence_);
  }
  int64_t output_step() const { return output_congruence_.step; }
  int64_t output_base_step() const { return output_congruence_.quotient; }

 private:
  // x * factor = -c (mod base_dilation) is solved by x = x0 (mod step), where step = base_dilation / g,
  // g = gcd(factor, base_dilation); one step in x moves the base index by quotient = factor / g.
  struct Congruence {
    int64_t gcd = 1, step = 1, quotient = 1;
    int64_t inverse = 0;  // of quotient, modulo step
  };
  static Congruence Solve(int64_t factor, int64_t modulus);
  Progression Meet(int64_t fixed, int64_t fixed_factor, int64_t factor, int64_t limit,
                   const Congruence& congruence) const;
  template <class Int>
  Progression MeetIn(int64_t fixed, int64_t fixed_factor, int64_t factor, int64_t limit,
                     const Congruence& congruence) const;

  int64_t base_size_;
  WindowDimension window_;
  int64_t outputs_;
  bool is_small_;  // no position or product of two of these numbers leaves 64 bits
  Congruence window_congruence_, output_congruence_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WALK_WINDOW_AXIS_H_
