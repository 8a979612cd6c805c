// Interval arithmetic over MPFR: enclosures of exact real numbers, for functions that neither MPFR nor exact
// integers give directly. Only evaluator/scalar includes it.
//
// Every operation rounds outward, so the exact result for exact operands inside lies inside. RoundZiv doubles
// the precision until both ends of an enclosure round to the same value of a format (Ziv's strategy); whoever
// calls it states why the number is neither 0 nor exactly on a rounding boundary, so that this ends.
#ifndef ASSAY_EVALUATOR_SCALAR_INTERVAL_H_
#define ASSAY_EVALUATOR_SCALAR_INTERVAL_H_

#include <mpfr.h>

#include "absl/functional/function_ref.h"
#include "shape/element_type.h"

namespace assay {

using MpfrFn1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using MpfrFn2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

class Interval {
 public:
  // The number x itself, for precisions of 53 bits and more.
  Interval(double x, mpfr_prec_t precision);
  // f of exact operands, whatever its monotony: MPFR rounds it down and up.
  Interval(MpfrFn1 f, mpfr_srcptr x, mpfr_prec_t precision);
  Interval(MpfrFn2 f, mpfr_srcptr x, mpfr_srcptr y, mpfr_prec_t precision);
  // What lies between two ends.
  Interval(mpfr_srcptr low, mpfr_srcptr high, mpfr_prec_t precision);
  static Interval Pi(mpfr_prec_t precision);
  Interval(Interval&& other) noexcept;
  Interval& operator=(Interval&& other) noexcept;
  ~Interval();

  mpfr_srcptr low() const { return low_; }
  mpfr_srcptr high() const { return high_; }
  mpfr_prec_t precision() const { return mpfr_get_prec(low_); }

  Interval Increasing(MpfrFn1 f) const;
  Interval Decreasing(MpfrFn1 f) const;
  Interval Half() const;
  Interval Negated() const;
  // Negated or not.
  Interval Signed(bool negative) const;
  // The part inside [low, high].
  Interval Clamped(double low, double high) const;
  // This and 0, and all that is between them.
  Interval WithZero() const;
  // [-m, m], where m is the largest magnitude in this interval of numbers that are not negative.
  Interval AroundZero() const;
  // Whether every number in it is below 2^-bits times the numbers of `other`, as far as exponents tell.
  bool IsBelow(const Interval& other, mpfr_prec_t bits) const;

  friend Interval operator+(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a, const Interval& b);
  friend Interval operator*(const Interval& a, const Interval& b);
  friend Interval operator/(const Interval& a, const Interval& b);  // b does not contain 0

 private:
  explicit Interval(mpfr_prec_t precision);
  mpfr_t low_, high_;
};

// RN_F of the number that `enclose(precision)` encloses, for precisions from 96 bits upward.
double RoundZiv(absl::FunctionRef<Interval(mpfr_prec_t)> enclose, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_INTERVAL_H_
