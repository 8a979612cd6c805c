#include "evaluator/scalar/interval.h"

#include <algorithm>

#include "evaluator/scalar/mpfr_real.h"

namespace assay {

Interval::Interval(mpfr_prec_t precision) {
  UseMpfrCache();
  mpfr_inits2(precision, low_, high_, nullptr);
}

Interval::Interval(double x, mpfr_prec_t precision) : Interval(precision) {
  mpfr_set_d(low_, x, MPFR_RNDD);
  mpfr_set_d(high_, x, MPFR_RNDU);
}

Interval::Interval(MpfrFn1 f, mpfr_srcptr x, mpfr_prec_t precision) : Interval(precision) {
  f(low_, x, MPFR_RNDD);
  f(high_, x, MPFR_RNDU);
}

Interval::Interval(MpfrFn2 f, mpfr_srcptr x, mpfr_srcptr y, mpfr_prec_t precision) : Interval(precision) {
  f(low_, x, y, MPFR_RNDD);
  f(high_, x, y, MPFR_RNDU);
}

Interval::Interval(mpfr_srcptr low, mpfr_srcptr high, mpfr_prec_t precision) : Interval(precision) {
  mpfr_set(low_, low, MPFR_RNDD);
  mpfr_set(high_, high, MPFR_RNDU);
}

Interval Interval::Pi(mpfr_prec_t precision) {
  Interval result(precision);
  mpfr_const_pi(result.low_, MPFR_RNDD);
  mpfr_const_pi(result.high_, MPFR_RNDU);
  return result;
}

Interval::Interval(Interval&& other) noexcept : Interval(mpfr_prec_t{MPFR_PREC_MIN}) {
  mpfr_swap(low_, other.low_);
  mpfr_swap(high_, other.high_);
}

Interval& Interval::operator=(Interval&& other) noexcept {
  mpfr_swap(low_, other.low_);
  mpfr_swap(high_, other.high_);
  return *this;
}

Interval::~Interval() { mpfr_clears(low_, high_, nullptr); }

Interval Interval::Increasing(MpfrFn1 f) const {
  Interval result(precision());
  f(result.low_, low_, MPFR_RNDD);
  f(result.high_, high_, MPFR_RNDU);
  return result;
}

Interval Interval::Decreasing(MpfrFn1 f) const {
  Interval result(precision());
  f(result.low_, high_, MPFR_RNDD);
  f(result.high_, low_, MPFR_RNDU);
  return result;
}

Interval Interval::Half() const {
  Interval result(precision());
  mpfr_div_2ui(result.low_, low_, 1, MPFR_RNDD);
  mpfr_div_2ui(result.high_, high_, 1, MPFR_RNDU);
  return result;
}

Interval Interval::Negated() const {
  Interval result(precision());
  mpfr_neg(result.low_, high_, MPFR_RNDD);
  mpfr_neg(result.high_, low_, MPFR_RNDU);
  return result;
}

Interval Interval::Signed(bool negative) const {
  return negative ? Negated() : Interval(low_, high_, precision());
}

Interval Interval::Clamped(double low, double high) const {
  Interval result(precision());
  mpfr_set(result.low_, low_, MPFR_RNDD);
  mpfr_set(result.high_, high_, MPFR_RNDU);
  if (mpfr_cmp_d(low_, low) < 0) mpfr_set_d(result.low_, low, MPFR_RNDD);
  if (mpfr_cmp_d(high_, high) > 0) mpfr_set_d(result.high_, high, MPFR_RNDU);
  return result;
}

Interval Interval::WithZero() const {
  Interval result(low_, high_, precision());
  if (mpfr_sgn(low_) > 0) mpfr_set_zero(result.low_, 1);
  if (mpfr_sgn(high_) < 0) mpfr_set_zero(result.high_, 1);
  return result;
}

Interval Interval::AroundZero() const {
  Interval result(precision());
  mpfr_neg(result.low_, high_, MPFR_RNDD);
  mpfr_set(result.high_, high_, MPFR_RNDU);
  return result;
}

bool Interval::IsBelow(const Interval& other, mpfr_prec_t bits) const {
  const auto is_below = [&](mpfr_srcptr end) {
    if (mpfr_zero_p(end)) return true;
    if (!mpfr_regular_p(end) || !mpfr_regular_p(other.low_) || !mpfr_regular_p(other.high_)) return false;
    return mpfr_get_exp(end) + bits < std::min(mpfr_get_exp(other.low_), mpfr_get_exp(other.high_));
  };
  return is_below(low_) && is_below(high_);
}

Interval operator+(const Interval& a, const Interval& b) {
  Interval result(a.precision());
  mpfr_add(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_add(result.high_, a.high_, b.high_, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a, const Interval& b) { return a + b.Negated(); }

// The extreme products are products of ends. 0 * inf, where an end overflowed, counts for nothing: mpfr_min
// and mpfr_max pass over a NaN.
Interval operator*(const Interval& a, const Interval& b) {
  Interval result(a.precision());
  MpfrReal product(a.precision());
  mpfr_mul(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_mul(result.high_, a.low_, b.low_, MPFR_RNDU);
  const auto include = [&](mpfr_srcptr x, mpfr_srcptr y) {
    mpfr_mul(product.get(), x, y, MPFR_RNDD);
    mpfr_min(result.low_, result.low_, product.get(), MPFR_RNDD);
    mpfr_mul(product.get(), x, y, MPFR_RNDU);
    mpfr_max(result.high_, result.high_, product.get(), MPFR_RNDU);
  };
  include(a.low_, b.high_);
  include(a.high_, b.low_);
  include(a.high_, b.high_);
  return result;
}

Interval operator/(const Interval& a, const Interval& b) {
  Interval reciprocal(b.precision());
  mpfr_ui_div(reciprocal.low_, 1, b.high_, MPFR_RNDD);
  mpfr_ui_div(reciprocal.high_, 1, b.low_, MPFR_RNDU);
  return a * reciprocal;
}

// The cap is far beyond what two doubles can need; it stands for "the caller's proof was wrong" and ends the
// loop all the same.
double RoundZiv(absl::FunctionRef<Interval(mpfr_prec_t)> enclose, const FloatFormat& format) {
  constexpr mpfr_prec_t kMaxPrecision = 1 << 16;
  for (mpfr_prec_t precision = 96;; precision *= 2) {
    const Interval bounds = enclose(precision);
    if (const auto result = RoundInterval(bounds.low(), bounds.high(), format)) return *result;
    if (precision > kMaxPrecision) return RoundMpfr(bounds.low(), 0, format);
  }
}

}  // namespace assay
