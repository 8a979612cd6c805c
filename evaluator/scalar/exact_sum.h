// Sums and sums of products of doubles, exact, rounded once (NUM-5, NUM-6).
//
// A fixed-point accumulator wide enough for any sum of up to 2^31 products of two doubles. Infinities and
// NaNs follow the extended reals: a NaN term, or +inf with -inf, gives NaN; else an infinity wins. A sum that
// is exactly zero is +0 unless every term was -0 (and there was one).
#ifndef ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_
#define ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_

#include <array>
#include <cstdint>
#include <optional>

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
  // RN_F of the sum divided by n: one rounding. n = 0: NaN.
  double RoundQuotient(int64_t n, const FloatFormat& format) const;
  // -1, 0 or 1 (NaN: 0).
  int Sign() const;

 private:
  friend double RoundVariance(const ExactSum& sum, const ExactSum& sum_of_squares, int64_t n,
                              const FloatFormat& format);
  friend double RoundRatio(const ExactSum& numerator, const ExactSum& denominator, const FloatFormat& format);

  // The sum is the sum of limbs_[i] * 2^(kLowExponent + 32 i). Limbs have room for carries: kMaxTerms
  // terms, each of which adds less than 2^32 to a limb, come between two calls of Normalize. The lowest bit
  // of a product is 2^-2148 and the highest 2^2047.
  static constexpr int kLimbs = 136;
  static constexpr int kLowExponent = -2176;
  static constexpr int64_t kMaxTerms = int64_t{1} << 30;
  struct Magnitude;

  void AddSpecial(double term);  // an infinity or a NaN
  void AddBlock(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n);
  // Limbs below the top one become 0 .. 2^32 - 1; the top one holds the sign and fits in 32 bits.
  void Normalize() const;
  bool IsFinite() const { return !nan_ && !positive_infinity_ && !negative_infinity_; }
  // +-inf, NaN or +-0 where the sum is one of these.
  std::optional<double> SpecialValue() const;
  Magnitude AbsoluteValue() const;

  mutable std::array<int64_t, kLimbs> limbs_{};
  mutable int low_ = kLimbs, high_ = -1;  // limbs outside [low_, high_] are zero
  mutable int64_t terms_ = 0;             // since the last Normalize
  bool positive_infinity_ = false, negative_infinity_ = false, nan_ = false;
  bool any_ = false, all_negative_zero_ = true;
};

// RN_F(sum x^2 / n - (sum x / n)^2), exact until the one rounding: the population variance of n values with
// the given sums. NaN if n is 0 or a term was infinite or NaN.
double RoundVariance(const ExactSum& sum, const ExactSum& sum_of_squares, int64_t n,
                     const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_EXACT_SUM_H_
