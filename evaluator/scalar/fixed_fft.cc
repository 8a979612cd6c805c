#include "evaluator/scalar/fixed_fft.h"

#include <algorithm>
#include <cmath>

#include "evaluator/scalar/mpfr_real.h"

namespace assay {
namespace {

constexpr int kRootBits = 126;
// The error of a root's component: directly computed ones are within 1 unit; products of two are within
// 2 * 1.5 (their factors) + 2 (two truncations) and the square of the error, below 6.
constexpr double kRootError = 6;
// The error of a complex root as a number: sqrt(2) * kRootError units, rounded up.
const double kRootErrorAbsolute = std::ldexp(1.5 * kRootError, -kRootBits);
// A complex product truncates four real products by less than one unit each: two a component.
constexpr double kProductError = 3;  // >= 2 sqrt(2)

// a * w / 2^126, toward zero, for |w| <= 2^126.
Int128 MultiplyByRoot(Int128 a, Int128 w) {
  const bool negative = (a < 0) != (w < 0);
  const Uint128 x = a < 0 ? -static_cast<Uint128>(a) : static_cast<Uint128>(a);
  const Uint128 y = w < 0 ? -static_cast<Uint128>(w) : static_cast<Uint128>(w);
  const uint64_t x0 = static_cast<uint64_t>(x), x1 = static_cast<uint64_t>(x >> 64);
  const uint64_t y0 = static_cast<uint64_t>(y), y1 = static_cast<uint64_t>(y >> 64);
  const Uint128 p00 = static_cast<Uint128>(x0) * y0;
  const Uint128 p01 = static_cast<Uint128>(x0) * y1;
  const Uint128 p10 = static_cast<Uint128>(x1) * y0;
  const Uint128 p11 = static_cast<Uint128>(x1) * y1;
  const Uint128 middle = (p00 >> 64) + static_cast<uint64_t>(p01) + static_cast<uint64_t>(p10);
  const Uint128 high = p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
  const Uint128 quotient = (high << 2) | (static_cast<uint64_t>(middle) >> 62);
  return negative ? -static_cast<Int128>(quotient) : static_cast<Int128>(quotient);
}

FixedComplex Multiply(const FixedComplex& a, const FixedComplex& w) {
  return {MultiplyByRoot(a.re, w.re) - MultiplyByRoot(a.im, w.im),
          MultiplyByRoot(a.re, w.im) + MultiplyByRoot(a.im, w.re)};
}

std::vector<int64_t> Factors(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

Int128 RealToFixed(mpfr_ptr value) {
  mpfr_mul_2si(value, value, kRootBits, MPFR_RNDN);
  mpz_t z;
  mpz_init(z);
  mpfr_get_z(z, value, MPFR_RNDN);
  Uint128 magnitude = 0;
  for (size_t i = mpz_size(z); i-- > 0;)
    magnitude = (magnitude << 64) | mpz_getlimbn(z, static_cast<mp_size_t>(i));
  const bool negative = mpz_sgn(z) < 0;
  mpz_clear(z);
  return negative ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
}

// e^(-2 pi i t / n), each component within one unit.
FixedComplex Root(int64_t t, int64_t n) {
  constexpr mpfr_prec_t kPrecision = 192;
  MpfrReal angle(kPrecision), sine(kPrecision), cosine(kPrecision);
  mpfr_const_pi(angle.get(), MPFR_RNDN);
  mpfr_mul_si(angle.get(), angle.get(), static_cast<long>(2 * t), MPFR_RNDN);
  mpfr_div_si(angle.get(), angle.get(), static_cast<long>(n), MPFR_RNDN);
  mpfr_sin_cos(sine.get(), cosine.get(), angle.get(), MPFR_RNDN);
  mpfr_neg(sine.get(), sine.get(), MPFR_RNDN);
  return {RealToFixed(cosine.get()), RealToFixed(sine.get())};
}

}  // namespace

FixedFft::FixedFft(int64_t n, bool inverse) : n_(n), factors_(Factors(n)), roots_(n), scratch_(n) {
  MakeRoots(inverse);
}

void FixedFft::MakeRoots(bool inverse) {
  // Roots of a block by MPFR, the others as products of one of the block and one at a block's start.
  constexpr int64_t kBlock = 1024;
  const int64_t block = n_ <= 2 * kBlock ? n_ : kBlock;
  for (int64_t t = 0; t < block; ++t) roots_[t] = Root(t, n_);
  for (int64_t start = block; start < n_; start += block) {
    const FixedComplex first = Root(start, n_);
    for (int64_t t = 0; t < std::min(block, n_ - start); ++t) roots_[start + t] = Multiply(first, roots_[t]);
  }
  if (!inverse) return;
  for (FixedComplex& root : roots_) root.im = -root.im;
}

// One step of Stockham's algorithm with radix p: `length` is what is left to do, `done` what is done.
absl::Status FixedFft::Pass(int64_t p, int64_t length, int64_t done, const FixedComplex* x, FixedComplex* y,
                            absl::FunctionRef<absl::Status(int64_t)> charge) const {
  const int64_t m = length / p, turn = n_ / length, fraction = n_ / p;
  int64_t work = 0;
  for (int64_t j = 0; j < m; ++j) {
    for (int64_t k = 0; k < p; ++k) {
      const FixedComplex& twiddle = roots_[j * k * turn];
      for (int64_t q = 0; q < done; ++q) {
        FixedComplex sum = x[q + done * j];
        for (int64_t r = 1; r < p; ++r) {
          const FixedComplex& value = x[q + done * (j + m * r)];
          if (p == 2) {
            sum = k == 0 ? FixedComplex{sum.re + value.re, sum.im + value.im}
                         : FixedComplex{sum.re - value.re, sum.im - value.im};
          } else {
            const FixedComplex term = Multiply(value, roots_[r * k % p * fraction]);
            sum.re += term.re;
            sum.im += term.im;
          }
        }
        y[q + done * (p * j + k)] = Multiply(sum, twiddle);
      }
      work += done * p;
      if (work < (1 << 16)) continue;
      ASSAY_RETURN_IF_ERROR(charge(work));
      work = 0;
    }
  }
  return charge(work);
}

absl::Status FixedFft::Transform(FixedComplex* x, absl::FunctionRef<absl::Status(int64_t)> charge) {
  FixedComplex* from = x;
  FixedComplex* to = scratch_.data();
  int64_t length = n_, done = 1;
  for (int64_t p : factors_) {
    ASSAY_RETURN_IF_ERROR(Pass(p, length, done, from, to, charge));
    std::swap(from, to);
    length /= p;
    done *= p;
  }
  if (from != x) std::copy_n(from, n_, x);
  return absl::OkStatus();
}

double FixedFft::ErrorAfter(double error, double magnitude) const {
  // One pass adds p products and multiplies the sum once more:
  //   |computed - meant| <= p (error + (magnitude + error) root_error + kProductError), then the same again
  // for the one product, whose root has absolute value at most 1.
  for (int64_t p : factors_) {
    const double radix = static_cast<double>(p);
    const double of_term = error + (magnitude + error) * kRootErrorAbsolute + kProductError;
    const double of_sum = radix * of_term;
    error = of_sum + (radix * magnitude + of_sum) * kRootErrorAbsolute + kProductError;
    error *= 1 + 1e-12;  // the roundings of this very computation
    magnitude *= radix;
  }
  return error;
}

}  // namespace assay
