// b + sum of a_k x_k, exact and rounded once, by sums of doubles whose error has a bound; what the bound
// leaves open, by ExactSum.
#ifndef ASSAY_CUSTOM_LAPACK_BOUNDED_SUM_H_
#define ASSAY_CUSTOM_LAPACK_BOUNDED_SUM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/scalar/exact_sum.h"
#include "shape/element_type.h"

namespace assay::custom {

// Doubles, and for terms that must be exact to the last bit their halves of 26 bits.
class SplitNumbers {
 public:
  // `is_f64`: the numbers are f64, not f32.
  SplitNumbers(int64_t count, bool is_f64);
  static int64_t DoublesEach(bool is_f64) { return is_f64 ? 3 : 1; }

  void Set(int64_t i, double value);
  double operator[](int64_t i) const { return values_[i]; }
  const double* values(int64_t at) const { return values_.data() + at; }
  const double* high(int64_t at) const { return high_.data() + at; }
  const double* low(int64_t at) const { return low_.data() + at; }
  // Exchanges `count` numbers from a on with those from b on.
  void Swap(int64_t a, int64_t b, int64_t count);

 private:
  std::vector<double> values_, high_, low_;
};

class BoundedSum {
 public:
  explicit BoundedSum(ElementType part);
  // RN(b + sum over k < count of a[a_at + k] x[x_at + k])
  double Round(double b, const SplitNumbers& a, int64_t a_at, const SplitNumbers& x, int64_t x_at,
               int64_t count);

 private:
  const bool is_f64_;
  const FloatFormat& format_;
  ExactSum exact_;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_BOUNDED_SUM_H_
