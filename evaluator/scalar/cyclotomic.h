// Deciding exactly whether a real sum of cosines with dyadic coefficients is rational (see exact_dft.h).
#ifndef ASSAY_EVALUATOR_SCALAR_CYCLOTOMIC_H_
#define ASSAY_EVALUATOR_SCALAR_CYCLOTOMIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "shape/element_type.h"

namespace assay {

// The terms of sum_j x_j cos(2 pi u_j / L), x_j = mantissa * 2^exponent, in any order.
struct CosineTerm {
  int64_t mantissa = 0;  // odd or zero
  int64_t exponent = 0;
  int64_t angle = 0;  // u_j, in [0, L)
};

// Asks for the sums of many lists of terms over one L, a multiple of 4.
class CosineSum {
 public:
  explicit CosineSum(int64_t order);
  // If the sum of the terms is rational: RN_F(sum / divisor), +0 for 0. Otherwise nothing.
  std::optional<double> IfRational(const std::vector<CosineTerm>& terms, int64_t divisor,
                                   const FloatFormat& format) const;

 private:
  const int64_t order_;
  std::vector<int64_t> primes_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_CYCLOTOMIC_H_
