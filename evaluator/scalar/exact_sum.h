// Sums and sums of products of doubles, exact, rounded once (NUM-5, NUM-6).
//
// A fixed-point accumulator wide enough for any sum of up to 2^31 products of two doubles. Infinities and
// NaNs follow the extended reals: a NaN term, or +inf with -inf, gives NaN; else an infinity wins. A sum that
// is exactly zero is +0 unless every term was -0 (and there was one).
#ifndef ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_
#define ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_

#include <array>
#include <cstdint>

#include "shape/element_type.h"

namespace assay {

class ExactSum {
 public:
  ExactSum() = default;
  void Clear();  // costs only what was touched

  void Add(double x);
  void Subtract(double x) { Add(-x); }
  void AddProduct(double a, double b);  // a * b exactly; 0 * inf is a NaN term
  void SubtractProduct(double a, double b) { AddProduct(-a, b); }
  // a[i * a_stride] * b[i * b_stride] for i in [0, n).
  void AddProducts(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n);

  // RN_F of the sum. No term at all: +0.
  double Round(const FloatFormat& format) const;
  // RN_F of the sum divided by n > 0: one rounding.
  double RoundQuotient(int64_t n, const FloatFormat& format) const;
  // -1, 0 or 1 (NaN: 0).
  int Sign() const;

 private:
  // Limbs of 32 bits held in int64 with room for carries, least significant first; limb 0 has weight 2^-2176.
  static constexpr int kLimbs = 136;
  static constexpr int kLowExponent = -2176;
  void Normalize() const;
  mutable std::array<int64_t, kLimbs> limbs_{};
  mutable int low_ = kLimbs, high_ = -1;  // touched range
  mutable int64_t adds_ = 0;              // since the last Normalize
  bool positive_infinity_ = false, negative_infinity_ = false, nan_ = false;
  bool any_ = false, all_negative_zero_ = true;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_
