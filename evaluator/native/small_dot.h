// Exact dots too small for tiles (small_dot_loops.h). Nothing is allocated but the result.
#ifndef ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
#define ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_

#include "evaluator/native/small_dot_kernels.h"
#include "evaluator/native/small_dot_loops.h"

namespace assay::native {

class SmallDot {
 public:
  static constexpr int64_t kMostProducts = 1 << 18;

  // Of floats whose products are exact doubles; IsSmallDot(box, kMostProducts).
  SmallDot(Isa isa, ElementType lhs, ElementType rhs, ElementType result, const DotBox& box);

  void Run(const std::byte* lhs, const std::byte* rhs, std::byte* result) const;

 private:
  class Runner;

  const SmallDotKernels& kernels_;
  const SumKernels& sums_;
  const ElementType type_;
  const SmallDotLoops loops_;
};

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_SMALL_DOT_H_
