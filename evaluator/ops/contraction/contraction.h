// Sums of products of two element types (docs/spec/operations-linalg.md, "Contractions", DOT-1): what dot,
// ragged-dot, scaled-dot and convolution share.
//
// Floating and complex results are +0 plus the exact sum of the exact products, rounded once a component
// (so a sum of zeros is +0, whatever their signs); integer results are the sum modulo 2^w; pred is OR of
// ANDs. An integer result of floating operands is the f32 result (f64 if an operand is f64), converted.
#ifndef ASSAY_EVALUATOR_OPS_CONTRACTION_CONTRACTION_H_
#define ASSAY_EVALUATOR_OPS_CONTRACTION_CONTRACTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/op.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"

namespace assay {

// DOT-1: the result's element type, which is the declared one, or else follows from the operands'.
absl::StatusOr<ElementType> ContractionResultType(const InferContext& context, ElementType lhs,
                                                  ElementType rhs);
// operand_precision names one known precision an operand (`counts`: the admitted numbers of operands), and
// algorithm is a known one. Neither changes a value.
absl::Status CheckPrecision(const InferContext& context, int64_t min_count, int64_t max_count);

// How elements of one type are read: their kind and its load function, decided once.
struct ElementReader {
  explicit ElementReader(ElementType type) : type(type), kind(KindOf(type)), load(LoadOneFor(type)) {}
  ElementType type;
  ComputeKind kind;
  LoadOneFn load;
};

// One element of a result in the making: elements come as they lie in a literal.
class ProductSum {
 public:
  ProductSum(ElementType lhs, ElementType rhs, ElementType result);
  void Clear();
  // Adds *lhs * *rhs.
  void Add(const std::byte* lhs, const std::byte* rhs);
  void Store(std::byte* dst) const;

 private:
  const ElementReader lhs_, rhs_;
  const ElementType result_, sum_;  // sum_: what is rounded to, before it is converted to the result's type
  const bool exact_;  // else the sum is integer_, modulo 2^64; of preds it counts the true products
  const StripKernel convert_;
  ExactSum real_, imaginary_;
  uint64_t integer_ = 0;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTRACTION_CONTRACTION_H_
