// The exact sum of runs of array elements of one floating or complex type, rounded once: RED-1.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_STRIDED_SUM_H_
#define ASSAY_ENGINES_NATIVE_SUMS_STRIDED_SUM_H_

#include <cstddef>
#include <cstdint>

#include "evaluator/scalar/exact_sum.h"
#include "shape/element_type.h"

namespace assay::native {

class StridedSum {
 public:
  explicit StridedSum(ElementType type);
  void Clear();
  // Adds n elements, the first at src, stride_bytes apart.
  void Add(const std::byte* src, int64_t stride_bytes, int64_t n);
  // Stores the rounded sum. No element at all: +0.
  void Store(std::byte* dst) const;

 private:
  const ElementType type_;
  const bool complex_;
  ExactSum real_, imaginary_;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_STRIDED_SUM_H_
