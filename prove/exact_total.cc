#include "prove/exact_total.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::prove {
namespace {

constexpr int kUnit = -2200;

uint64_t RoundInteger(mpz_srcptr sum, const NumberFormat& format) {
  if (format.type == ElementType::kF64) {
    mpfr_t rounded;
    mpfr_init2(rounded, 53);
    int ternary = mpfr_set_z_2exp(rounded, sum, kUnit, MPFR_RNDN);
    uint64_t pattern = 0;
    {
      const DoubleRange range;
      ternary = mpfr_check_range(rounded, ternary, MPFR_RNDN);
      pattern = RoundDouble(rounded, ternary);
    }
    mpfr_clear(rounded);
    return pattern;
  }
  // Toward zero to a double; beyond 2^±1000 any number is as good as another for formats of 32 bits.
  signed long exponent = 0;
  const double fraction = std::fabs(mpz_get_d_2exp(&exponent, sum));
  const size_t bits = mpz_sizeinbase(sum, 2);
  Real real{.negative = mpz_sgn(sum) < 0, .cut = bits > 53 && mpz_scan1(sum, 0) < bits - 53};
  exponent += kUnit;
  if (exponent < -1000 || exponent > 1000) real.cut = true;
  real.magnitude = std::ldexp(fraction, static_cast<int>(std::clamp(exponent, -1000L, 1000L)));
  return RoundReal(real, format);
}

}  // namespace

void ExactTotal::Clear() {
  mpz_set_ui(sum_, 0);
  nan_ = positive_infinity_ = negative_infinity_ = any_ = false;
  only_negative_zeros_ = true;
}

void ExactTotal::AddProduct(double a, double b) {
  any_ = true;
  const double product = a * b;  // for its sign, and for infinities and NaNs
  if (!std::isfinite(a) || !std::isfinite(b)) {
    nan_ |= std::isnan(product);
    positive_infinity_ |= product > 0;
    negative_infinity_ |= product < 0;
    return;
  }
  only_negative_zeros_ &= (a == 0 || b == 0) && std::signbit(product);
  if (a == 0 || b == 0) return;
  int a_exponent = 0, b_exponent = 0;
  mpz_set_d(term_, std::ldexp(std::frexp(a, &a_exponent), 53));
  mpz_mul_si(term_, term_, static_cast<long>(std::ldexp(std::frexp(b, &b_exponent), 53)));
  // Products reach down to 2^-2148, but their last bits, counted to 53 places each, below the unit: those
  // are zeros.
  const int shift = a_exponent + b_exponent - 106 - kUnit;
  if (shift >= 0) {
    mpz_mul_2exp(term_, term_, static_cast<mp_bitcnt_t>(shift));
  } else {
    mpz_tdiv_q_2exp(term_, term_, static_cast<mp_bitcnt_t>(-shift));
  }
  mpz_add(sum_, sum_, term_);
}

uint64_t ExactTotal::Round(const NumberFormat& format) const {
  const bool both = positive_infinity_ && negative_infinity_;
  if (nan_ || both) return RoundReal(RealOf(std::numeric_limits<double>::quiet_NaN()), format);
  if (positive_infinity_ || negative_infinity_) {
    return RoundReal({std::numeric_limits<double>::infinity(), negative_infinity_, false}, format);
  }
  if (mpz_sgn(sum_) != 0) return RoundInteger(sum_, format);
  return RoundReal({0, any_ && only_negative_zeros_, false}, format);
}

}  // namespace assay::prove
