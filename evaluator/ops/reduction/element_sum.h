// The exact sum of array elements of one floating or complex type, rounded once: RED-1.
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_ELEMENT_SUM_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_ELEMENT_SUM_H_

#include <cstddef>
#include <span>

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

// The same of elements of any type but pred: integers wrap around.
class SummandSum {
 public:
  explicit SummandSum(ElementType type) : type_(type), sum_(IsIntegral(type) ? ElementType::kF32 : type) {}
  // At least one.
  void Store(std::span<const std::byte* const> summands, std::byte* element);

 private:
  const ElementType type_;
  ElementSum sum_;  // of floating and complex types
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_ELEMENT_SUM_H_
