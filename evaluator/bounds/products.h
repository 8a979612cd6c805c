// Which ops add up products of operands 0 and 1: dots and convolutions, whose rules (sums.cc) are one
// formula.
#ifndef ASSAY_EVALUATOR_BOUNDS_PRODUCTS_H_
#define ASSAY_EVALUATOR_BOUNDS_PRODUCTS_H_

#include "hlo/opcode.h"

namespace assay::bound {

inline bool SumsProducts(Opcode op) {
  return op == Opcode::kDot || op == Opcode::kConvolution || op == Opcode::kRaggedDot;
}

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_PRODUCTS_H_
