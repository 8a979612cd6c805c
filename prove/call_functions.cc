#include "prove/call_functions.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace assay::prove {
namespace {

// An MPFR number of some precision.
class Number {
 public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  operator mpfr_ptr() { return value_; }  // NOLINT: it is that number wherever MPFR takes one

 private:
  mpfr_t value_;
};

// low and high = y (1 -+ 2^-bits), for y of either sign.
void Widen(mpfr_srcptr y, mpfr_prec_t bits, mpfr_ptr low, mpfr_ptr high) {
  Number step(mpfr_get_prec(y));
  mpfr_abs(step, y, MPFR_RNDN);
  mpfr_div_2ui(step, step, static_cast<unsigned long>(bits), MPFR_RNDU);
  mpfr_sub(low, y, step, MPFR_RNDD);
  mpfr_add(high, y, step, MPFR_RNDU);
}

// Newton's steps from double precision for log erfc y = log(1 - x) where x > 1/2, which is close to a
// parabola, and for erf y = x below. x > 0.
void ImproveErfInv(mpfr_srcptr x, mpfr_ptr y) {
  const mpfr_prec_t p = mpfr_get_prec(y);
  Number value(p), slope(p), complement(p);
  mpfr_ui_sub(complement, 1, x, MPFR_RNDN);
  for (mpfr_prec_t known = 24; known < 2 * p; known *= 2) {
    mpfr_const_pi(slope, MPFR_RNDN);
    mpfr_sqrt(slope, slope, MPFR_RNDN);
    mpfr_sqr(value, y, MPFR_RNDN);
    mpfr_exp(value, value, MPFR_RNDN);
    mpfr_mul(slope, slope, value, MPFR_RNDN);
    mpfr_div_2ui(slope, slope, 1, MPFR_RNDN);  // 1 / erf' y
    if (mpfr_cmp_d(x, 0.5) > 0) {
      mpfr_erfc(value, y, MPFR_RNDN);
      mpfr_mul(slope, slope, value, MPFR_RNDN);
      mpfr_div(value, value, complement, MPFR_RNDN);
      mpfr_log(value, value, MPFR_RNDN);
      mpfr_neg(value, value, MPFR_RNDN);
    } else {
      mpfr_erf(value, y, MPFR_RNDN);
      mpfr_sub(value, value, x, MPFR_RNDN);
    }
    mpfr_mul(value, value, slope, MPFR_RNDN);
    mpfr_sub(y, y, value, MPFR_RNDN);
  }
}

// Whether erf low < x < erf high, for low > 0.
bool Brackets(mpfr_srcptr x, mpfr_srcptr low, mpfr_srcptr high) {
  const mpfr_prec_t p = mpfr_get_prec(low);
  Number value(p), complement(p + 1100);
  if (mpfr_cmp_d(x, 0.5) <= 0) {
    mpfr_erf(value, low, MPFR_RNDU);
    if (mpfr_cmp(value, x) >= 0) return false;
    mpfr_erf(value, high, MPFR_RNDD);
    return mpfr_cmp(value, x) > 0;
  }
  mpfr_ui_sub(complement, 1, x, MPFR_RNDN);  // exactly
  mpfr_erfc(value, low, MPFR_RNDD);
  if (mpfr_cmp(value, complement) <= 0) return false;
  mpfr_erfc(value, high, MPFR_RNDU);
  return mpfr_cmp(value, complement) < 0;
}

void EncloseErfInv(mpfr_srcptr x, mpfr_ptr low, mpfr_ptr high) {
  const mpfr_prec_t p = mpfr_get_prec(low);
  Number size(mpfr_get_prec(x)), y(p + 64);
  mpfr_abs(size, x, MPFR_RNDN);
  mpfr_set_d(y, NearErfInv(mpfr_get_d(size, MPFR_RNDN)), MPFR_RNDN);
  if (mpfr_cmp_d(size, 0x1p-900) < 0) mpfr_mul_d(y, size, 0.886, MPFR_RNDN);
  ImproveErfInv(size, y);
  Widen(y, p - 4, low, high);
  if (!Brackets(size, low, high)) std::abort();  // the oracle is wrong, which nothing else would show
  if (mpfr_signbit(x)) {
    mpfr_neg(low, low, MPFR_RNDN);
    mpfr_neg(high, high, MPFR_RNDN);
    mpfr_swap(low, high);
  }
}

// e^-x I1(x) by the power series, of positive terms; each step errs by 2^-q relatively.
void BesselSeries(mpfr_srcptr x, mpfr_ptr sum) {
  const mpfr_prec_t q = mpfr_get_prec(sum);
  Number term(q), square(q);
  mpfr_div_2ui(term, x, 1, MPFR_RNDN);
  mpfr_sqr(square, term, MPFR_RNDN);
  mpfr_set(sum, term, MPFR_RNDN);
  for (unsigned long k = 1;; ++k) {
    mpfr_mul(term, term, square, MPFR_RNDN);
    mpfr_div_ui(term, term, k, MPFR_RNDN);
    mpfr_div_ui(term, term, k + 1, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
    if (mpfr_get_exp(term) < mpfr_get_exp(sum) - q && mpfr_cmp_ui(x, k) < 0) break;
  }
  mpfr_neg(term, x, MPFR_RNDN);
  mpfr_exp(term, term, MPFR_RNDN);
  mpfr_mul(sum, sum, term, MPFR_RNDN);
}

// Hankel's expansion for x > 4000, whose terms fall below 2^-q long before they grow (DLMF 10.40.1).
void BesselExpansion(mpfr_srcptr x, mpfr_ptr sum) {
  const mpfr_prec_t q = mpfr_get_prec(sum);
  Number term(q), root(q);
  mpfr_set_ui(term, 1, MPFR_RNDN);
  mpfr_set(sum, term, MPFR_RNDN);
  for (long k = 1; mpfr_get_exp(term) > -q - 8; ++k) {
    mpfr_mul_si(term, term, (2 * k - 1) * (2 * k - 1) - 4, MPFR_RNDN);
    mpfr_div_si(term, term, 8 * k, MPFR_RNDN);
    mpfr_div(term, term, x, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_const_pi(root, MPFR_RNDN);
  mpfr_mul(root, root, x, MPFR_RNDN);
  mpfr_mul_2ui(root, root, 1, MPFR_RNDN);
  mpfr_rec_sqrt(root, root, MPFR_RNDN);
  mpfr_mul(sum, sum, root, MPFR_RNDN);
}

void EncloseBesselI1e(mpfr_srcptr x, mpfr_ptr low, mpfr_ptr high) {
  const mpfr_prec_t p = mpfr_get_prec(low);
  Number size(mpfr_get_prec(x)), value(p + 64);
  mpfr_abs(size, x, MPFR_RNDN);
  // e^(-2x) is left out of the expansion.
  if (mpfr_cmp_ui(size, 4000) > 0 && mpfr_cmp_si(size, p + 64) > 0) {
    BesselExpansion(size, value);
  } else {
    BesselSeries(size, value);
  }
  if (mpfr_signbit(x)) mpfr_neg(value, value, MPFR_RNDN);
  Widen(value, p + 32, low, high);
}

}  // namespace

int RoundEnclosed(mpfr_ptr result, mpfr_rnd_t rounding,
                  absl::FunctionRef<void(mpfr_ptr low, mpfr_ptr high)> enclose) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  Number low(64), high(64), other(mpfr_get_prec(result));
  for (mpfr_prec_t precision = mpfr_get_prec(result) + 32;; precision *= 2) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_set_prec(low, precision);
    mpfr_set_prec(high, precision);
    enclose(low, high);
    int ternary = mpfr_set(result, low, rounding), other_ternary = mpfr_set(other, high, rounding);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    ternary = mpfr_check_range(result, ternary, rounding);
    other_ternary = mpfr_check_range(other, other_ternary, rounding);
    // Both ends lie below, or both above, one and the same number: so does all that is between them.
    if (mpfr_equal_p(result, other) && ternary != 0 && (ternary < 0) == (other_ternary < 0) &&
        other_ternary != 0) {
      return ternary;
    }
  }
}

// MPFR gives infinities at the zeros.
int DigammaOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (!mpfr_zero_p(x)) return mpfr_digamma(result, x, rounding);
  mpfr_set_nan(result);
  return 0;
}

int LgammaOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign = 0;
  return mpfr_lgamma(result, &sign, x, rounding);
}

int ErfInvOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) > 0) {
    mpfr_set_nan(result);
    return 0;
  }
  if (mpfr_zero_p(x)) return mpfr_set(result, x, rounding);
  if (mpfr_cmpabs_ui(x, 1) == 0) {
    mpfr_set_inf(result, mpfr_sgn(x));
    return 0;
  }
  return RoundEnclosed(result, rounding, [&](mpfr_ptr low, mpfr_ptr high) { EncloseErfInv(x, low, high); });
}

int BesselI1eOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_zero_p(x)) return mpfr_set(result, x, rounding);
  if (mpfr_inf_p(x)) {
    mpfr_set_zero(result, mpfr_sgn(x));
    return 0;
  }
  return RoundEnclosed(result, rounding,
                       [&](mpfr_ptr low, mpfr_ptr high) { EncloseBesselI1e(x, low, high); });
}

double NearLgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// In x87's 64 bits: Winitzki's formula, good to 2^-8, and Newton's steps as above.
double NearErfInv(double x) {
  const long double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(HUGE_VAL, x) : std::numeric_limits<double>::quiet_NaN();
  constexpr long double kHalfRoot = 0.886226925452758013649083741670572591L;  // sqrt(pi) / 2
  if (a < 0x1p-32L) return static_cast<double>(kHalfRoot * x);
  const long double logarithm = std::log((1 - a) * (1 + a));
  const long double half = 2 / (std::numbers::pi_v<long double> * 0.147L) + logarithm / 2;
  long double y =
      a < 0x1p-10L ? kHalfRoot * a : std::sqrt(std::sqrt(half * half - logarithm / 0.147L) - half);
  for (int step = 0; step < 4; ++step) {
    const long double inverse_slope = kHalfRoot * std::exp(y * y);
    if (a > 0.5L) {
      const long double value = std::erfc(y);
      y += std::log(value / (1 - a)) * value * inverse_slope;
    } else {
      y -= (std::erf(y) - a) * inverse_slope;
    }
  }
  return static_cast<double>(std::copysign(y, static_cast<long double>(x)));
}

double NearBesselI1e(double x) {
  const long double a = std::fabs(x);
  if (!(a > 0) || std::isinf(a)) return a == 0 ? x : a > 0 ? std::copysign(0.0, x) : x;
  long double sum = 0, scale = 0;
  if (a < 50) {
    long double term = a / 2;
    for (long double k = 1; term > sum * 0x1p-68L; ++k) {
      sum += term;
      term *= a * a / (4 * k * (k + 1));
    }
    scale = std::exp(-a);
  } else {
    long double term = 1;
    for (long double k = 1; std::fabs(term) > 0x1p-68L; ++k) {
      sum += term;
      term *= ((2 * k - 1) * (2 * k - 1) - 4) / (8 * k * a);
    }
    scale = 1 / std::sqrt(2 * std::numbers::pi_v<long double> * a);
  }
  return static_cast<double>(std::copysign(sum * scale, static_cast<long double>(x)));
}

}  // namespace assay::prove
