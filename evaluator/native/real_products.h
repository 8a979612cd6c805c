// Which contractions are matrix products of doubles (matrix_product.h), and how.
#ifndef ASSAY_EVALUATOR_NATIVE_REAL_PRODUCTS_H_
#define ASSAY_EVALUATOR_NATIVE_REAL_PRODUCTS_H_

#include "evaluator/native/matrix_product.h"

namespace assay::native {

struct RealProducts {
  ElementType component = ElementType::kF32;  // of the result
  bool complex = false;                       // both operands and the result
  bool two_products = false;                  // the product of two elements may need more than 53 bits
};

// NotSupported with the reason for other element types.
absl::StatusOr<RealProducts> RealProductsOf(ElementType lhs, ElementType rhs, ElementType result);

// Result positions of a product of complex operands: left rows are twice as many, and elements are two components.
void SplitComponents(MatrixProduct& product);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_REAL_PRODUCTS_H_
