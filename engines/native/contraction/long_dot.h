// Dots whose rows are too long to pack: one exact sum of products after the other.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_LONG_DOT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_LONG_DOT_H_

#include "engines/native/contraction/dot_box.h"
#include "engines/native/contraction/product_kernel.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/sums/tiers.h"

namespace assay::native {

// The elements of a dot of floats whose products are exact doubles, one by one.
class ExactDotElements {
 public:
  ExactDotElements(const SumKernels& kernels, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                   ElementType type);
  // Element (b, i, j) rounded to `type`.
  double Rounded(Parallel& parallel, int64_t b, int64_t i, int64_t j, TierCounts& counts) const;
  int64_t length() const { return left_.length(); }

 private:
  const SumKernels& kernels_;
  const DotArray &lhs_, &rhs_;
  const RowLayout left_, right_;
  const FloatFormat& format_;
};

// Takes floats whose products are exact doubles.
absl::Status RunLongDot(EvalContext& context, const SumKernels& kernels, const DotArray& lhs,
                        const DotArray& rhs, const DotBox& box, ElementType type, std::byte* result);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_LONG_DOT_H_
