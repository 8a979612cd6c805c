// The exact sum of array elements of one floating or complex type, rounded once: RED-1.
#ifndef ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_
#define ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_

#include <cstddef>
#include <cstdint>

#include "evaluator/scalar/exact_sum.h"
#include "shape/element_type.h"

namespace assay {

class ElementSum {
 public:
  explicit ElementSum(ElementType type);
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

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_
