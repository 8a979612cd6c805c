#include "evaluator/scalar/cyclotomic.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "evaluator/scalar/fixed_fft.h"
#include "evaluator/scalar/mpfr_real.h"

namespace assay {
namespace {

// Coefficients: 128-bit where everything fits, else GMP integers.
class SmallInteger {
 public:
  void AddShifted(int64_t mantissa, int64_t shift) {
    value_ += static_cast<Int128>(mantissa) * (Int128{1} << shift);
  }
  void Subtract(const SmallInteger& other) { value_ -= other.value_; }
  void SetZero() { value_ = 0; }
  bool IsZero() const { return value_ == 0; }
  void Get(mpz_ptr z) const {
    const bool negative = value_ < 0;
    const Uint128 magnitude = negative ? -static_cast<Uint128>(value_) : static_cast<Uint128>(value_);
    mpz_set_ui(z, static_cast<uint64_t>(magnitude >> 64));
    mpz_mul_2exp(z, z, 64);
    mpz_add_ui(z, z, static_cast<uint64_t>(magnitude));
    if (negative) mpz_neg(z, z);
  }

 private:
  Int128 value_ = 0;
};

class BigCounter {
 public:
  BigCounter() { mpz_init(value_); }
  ~BigCounter() { mpz_clear(value_); }
  BigCounter(const BigCounter&) = delete;
  BigCounter& operator=(const BigCounter&) = delete;
  void AddShifted(int64_t mantissa, int64_t shift) {
    mpz_t term;
    mpz_init_set_si(term, mantissa);
    mpz_mul_2exp(term, term, static_cast<mp_bitcnt_t>(shift));
    mpz_add(value_, value_, term);
    mpz_clear(term);
  }
  void Subtract(const BigCounter& other) { mpz_sub(value_, value_, other.value_); }
  void SetZero() { mpz_set_ui(value_, 0); }
  bool IsZero() const { return mpz_sgn(value_) == 0; }
  void Get(mpz_ptr z) const { mpz_set(z, value_); }

 private:
  mpz_t value_;
};

std::vector<int64_t> PrimesOf(int64_t n) {
  std::vector<int64_t> primes;
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    primes.push_back(p);
    while (n % p == 0) n /= p;
  }
  if (n > 1) primes.push_back(n);
  return primes;
}

// Writes sum_u d[u] zeta^u in the basis of those zeta^u whose exponent, modulo every full prime power p^a of
// `order`, is below (p - 1) p^(a-1): the others are minus the sum of their p - 1 companions u + j order / p,
// which differ from u in that residue alone.
template <typename Integer>
void ReduceToBasis(std::vector<Integer>& d, const std::vector<int64_t>& primes) {
  const int64_t order = static_cast<int64_t>(d.size());
  for (int64_t p : primes) {
    int64_t power = p;
    while (order % (power * p) == 0) power *= p;
    const int64_t companion = order / p;
    for (int64_t u = 0; u < order; ++u) {
      if (u % power < power - power / p || d[u].IsZero()) continue;
      for (int64_t v = (u + companion) % order; v != u; v = (v + companion) % order) d[v].Subtract(d[u]);
      d[u].SetZero();
    }
  }
}

// The coefficient of 1 of 2 * sum, in units of 2^low, if the sum is rational.
template <typename Integer>
bool RationalPart(const std::vector<CosineTerm>& terms, int64_t low, int64_t order,
                  const std::vector<int64_t>& primes, mpz_ptr result) {
  std::vector<Integer> d(order);
  for (const CosineTerm& term : terms) {
    // 2 cos(2 pi u / L) = zeta^u + zeta^-u
    if (term.mantissa == 0) continue;
    d[term.angle].AddShifted(term.mantissa, term.exponent - low);
    d[(order - term.angle) % order].AddShifted(term.mantissa, term.exponent - low);
  }
  ReduceToBasis(d, primes);
  for (int64_t u = 1; u < order; ++u) {
    if (!d[u].IsZero()) return false;
  }
  d[0].Get(result);
  return true;
}

// RN_F(z * 2^exponent / divisor).
double RoundScaled(mpz_srcptr z, int64_t exponent, int64_t divisor, const FloatFormat& format) {
  if (mpz_sgn(z) == 0) return 0;
  MpfrReal exact(static_cast<mpfr_prec_t>(std::max<size_t>(mpz_sizeinbase(z, 2), 2)));
  mpfr_set_z_2exp(exact.get(), z, static_cast<mpfr_exp_t>(exponent), MPFR_RNDZ);
  MpfrReal quotient(kTruncatedPrecision);
  const int ternary = mpfr_div_si(quotient.get(), exact.get(), static_cast<long>(divisor), MPFR_RNDZ);
  return RoundMpfr(quotient.get(), ternary, format);
}

}  // namespace

CosineSum::CosineSum(int64_t order) : order_(order), primes_(PrimesOf(order)) {}

std::optional<double> CosineSum::IfRational(const std::vector<CosineTerm>& terms, int64_t divisor,
                                            const FloatFormat& format) const {
  int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
  for (const CosineTerm& term : terms) {
    if (term.mantissa == 0) continue;
    low = std::min(low, term.exponent);
    high = std::max(high, term.exponent + 54);
  }
  if (high < low) return 0;
  // A reduced coefficient is at most the sum of all |coefficients| times 2^(number of primes).
  const int64_t room = 2 + static_cast<int64_t>(std::bit_width(2 * terms.size()) + primes_.size());
  mpz_t value;
  mpz_init(value);
  const bool rational = high - low + room < 127
                            ? RationalPart<SmallInteger>(terms, low, order_, primes_, value)
                            : RationalPart<BigCounter>(terms, low, order_, primes_, value);
  std::optional<double> result;
  if (rational) result = RoundScaled(value, low - 1, divisor, format);
  mpz_clear(value);
  return result;
}

}  // namespace assay
