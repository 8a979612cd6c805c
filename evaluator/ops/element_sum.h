// The exact sum of array elements of one floating or complex type, rounded once: RED-1.
#ifndef ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_
#define ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_

#include <cstddef>

#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"

namespace assay {

class ElementSum {
 public:
  explicit ElementSum(ElementType type);
  void Clear();
  void Add(const std::byte* element);
  // Stores the rounded sum. No element at all: +0.
  void Store(std::byte* element) const;

 private:
  const ElementType type_;
  const LoadOneFn load_;
  ExactSum real_, imaginary_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_ELEMENT_SUM_H_
