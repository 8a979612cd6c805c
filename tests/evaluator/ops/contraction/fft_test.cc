#include <mpfr.h>

#include <catch2/catch.hpp>

#include "evaluator/scalar/exact_dft.h"
#include "evaluator/scalar/fixed_fft.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

// Components of forward transforms of length n by MPFR; sums below 2^-800 are zero: the inputs of these tests
// are multiples of 2^-200 and their transforms are either zero or far above.
class SlowDft {
 public:
  explicit SlowDft(int64_t n) : n_(n), roots_(2 * n) {
    mpfr_t angle;
    mpfr_init2(angle, kPrecision);
    mpfr_inits2(kPrecision, term_, sum_, static_cast<mpfr_ptr>(nullptr));
    for (int64_t t = 0; t < n; ++t) {
      mpfr_inits2(kPrecision, roots_[2 * t].value, roots_[2 * t + 1].value, static_cast<mpfr_ptr>(nullptr));
      mpfr_const_pi(angle, MPFR_RNDN);
      mpfr_mul_si(angle, angle, 2 * t, MPFR_RNDN);
      mpfr_div_si(angle, angle, n, MPFR_RNDN);
      mpfr_cos(roots_[2 * t].value, angle, MPFR_RNDN);
      mpfr_sin(roots_[2 * t + 1].value, angle, MPFR_RNDN);
    }
    mpfr_clear(angle);
  }
  ~SlowDft() {
    for (Root& root : roots_) mpfr_clear(root.value);
    mpfr_clears(term_, sum_, static_cast<mpfr_ptr>(nullptr));
  }
  SlowDft(const SlowDft&) = delete;
  SlowDft& operator=(const SlowDft&) = delete;

  double Component(const std::vector<double>& re, const std::vector<double>& im, int64_t k, bool imaginary,
                   const RoundingOracle& oracle) {
    mpfr_set_zero(sum_, 1);
    for (int64_t j = 0; j < n_; ++j) {
      // (a + ib)(c - is) = ac + bs + i(bc - as)
      const int64_t t = j * k % n_;
      mpfr_mul_d(term_, roots_[2 * t].value, imaginary ? im[j] : re[j], MPFR_RNDN);
      mpfr_add(sum_, sum_, term_, MPFR_RNDN);
      mpfr_mul_d(term_, roots_[2 * t + 1].value, imaginary ? -re[j] : im[j], MPFR_RNDN);
      mpfr_add(sum_, sum_, term_, MPFR_RNDN);
    }
    if (mpfr_zero_p(sum_) || mpfr_get_exp(sum_) < -800) return 0;
    // Without the last bits, so that exact ties are seen as such.
    mpfr_prec_round(sum_, kPrecision - 300, MPFR_RNDN);
    const double result = oracle.Round(sum_);
    mpfr_set_prec(sum_, kPrecision);
    return result;
  }

 private:
  static constexpr mpfr_prec_t kPrecision = 1200;
  struct Root {
    mpfr_t value;
  };
  const int64_t n_;
  std::vector<Root> roots_;
  mpfr_t term_, sum_;
};

absl::Status NoCharge(int64_t) { return absl::OkStatus(); }

// How many components of the transform differ from MPFR's.
int Wrong(const std::vector<double>& re, const std::vector<double>& im, ElementType type) {
  const int64_t n = static_cast<int64_t>(re.size());
  ExactDft dft({n}, false, *Info(type).format);
  ExactDft::Output output;
  REQUIRE(dft.Transform({re, im, {}}, n, true, output, NoCharge).ok());
  SlowDft slow(n);
  const RoundingOracle oracle(type);
  int wrong = 0;
  for (int64_t k = 0; k < n; ++k) {
    wrong += !SameBits(output.re[k], slow.Component(re, im, k, false, oracle));
    wrong += !SameBits(output.im[k], slow.Component(re, im, k, true, oracle));
  }
  return wrong;
}

TEST_CASE("fft: random lines of every small length are rounded once", "[fft]") {
  RandomDoubles random(31);
  for (int64_t n = 1; n <= 40; ++n) {
    for (ElementType type : {ElementType::kF32, ElementType::kF64}) {
      const int spread = n % 3 == 0 ? 60 : 2;
      INFO("n=" << n);
      CHECK(Wrong(random.Fill(type, {n}, spread).values, random.Fill(type, {n}, spread).values, type) == 0);
    }
  }
}

TEST_CASE("fft: exact zeros and ties are decided", "[fft]") {
  RandomDoubles random(32);
  for (int64_t n : {3, 4, 5, 6, 8, 9, 12, 15, 16, 24, 30, 36}) {
    INFO("n=" << n);
    CHECK(Wrong(std::vector<double>(n, 1.25), std::vector<double>(n, -0.5), ElementType::kF32) == 0);
    // Periodic lines: zero but at multiples of the number of periods.
    std::vector<double> re(n), im(n);
    for (int64_t period = 1; period < n; ++period) {
      if (n % period != 0) continue;
      for (int64_t i = 0; i < n; ++i) {
        re[i] = static_cast<double>(i % period + 1);
        im[i] = static_cast<double>(i % period * (i % period));
      }
      CHECK(Wrong(re, im, ElementType::kF32) == 0);
    }
    // A tie that only the sum of all roots shows: 1 - 2^-24 (w + w^2 + ...) = 1 + 2^-24.
    re.assign(n, -std::ldexp(1, -24));
    re[0] = 1;
    im.assign(n, 0);
    CHECK(Wrong(re, im, ElementType::kF32) == 0);
    // Cancellation that leaves something tiny.
    re.assign(n, std::ldexp(1, 60));
    re[n / 2] += std::ldexp(1, 10);
    CHECK(Wrong(re, im, ElementType::kF64) == 0);
  }
}

TEST_CASE("fft: the fixed-point transform stays within its bound", "[fft]") {
  RandomDoubles random(33);
  for (int64_t n : {2, 6, 35, 64, 2100}) {
    FixedFft fft(n, false);
    std::vector<FixedComplex> x(n);
    std::vector<double> re(n), im(n);
    for (int64_t i = 0; i < n; ++i) {
      re[i] = static_cast<double>(random.Int(-1000, 1000));
      im[i] = static_cast<double>(random.Int(-1000, 1000));
      x[i] = {static_cast<Int128>(re[i]) << 60, static_cast<Int128>(im[i]) << 60};
    }
    REQUIRE(fft.Transform(x.data(), NoCharge).ok());
    const double bound = fft.ErrorAfter(0, std::ldexp(1500, 60));
    for (int64_t k : {int64_t{0}, n / 2, n - 1}) {
      mpfr_t exact, angle, sine, cosine;
      mpfr_inits2(300, exact, angle, sine, cosine, static_cast<mpfr_ptr>(nullptr));
      mpfr_set_zero(exact, 1);
      for (int64_t j = 0; j < n; ++j) {
        mpfr_const_pi(angle, MPFR_RNDN);
        mpfr_mul_si(angle, angle, 2 * (j * k % n), MPFR_RNDN);
        mpfr_div_si(angle, angle, n, MPFR_RNDN);
        mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
        mpfr_mul_d(cosine, cosine, re[j], MPFR_RNDN);
        mpfr_mul_d(sine, sine, im[j], MPFR_RNDN);
        mpfr_add(exact, exact, cosine, MPFR_RNDN);
        mpfr_add(exact, exact, sine, MPFR_RNDN);
      }
      mpfr_mul_2si(exact, exact, 60, MPFR_RNDN);
      const Int128 value = x[k].re;
      mpfr_set_si(angle, static_cast<int64_t>(value >> 64), MPFR_RNDN);
      mpfr_mul_2si(angle, angle, 64, MPFR_RNDN);
      mpfr_set_ui(sine, static_cast<uint64_t>(value), MPFR_RNDN);
      mpfr_add(angle, angle, sine, MPFR_RNDN);
      mpfr_sub(exact, exact, angle, MPFR_RNDN);
      CHECK(std::abs(mpfr_get_d(exact, MPFR_RNDN)) <= bound);
      CHECK(bound < std::ldexp(static_cast<double>(n), 10));
      mpfr_clears(exact, angle, sine, cosine, static_cast<mpfr_ptr>(nullptr));
    }
  }
}

TEST_CASE("fft: a transform and its inverse of integers return", "[fft]") {
  const std::string program =
      R"(ENTRY e {
  x = f32[4,6] parameter(0)
  y = c64[4,4] fft(x), fft_type=RFFT, fft_length={4,6}
  ROOT z = f32[4,6] fft(y), fft_type=IRFFT, fft_length={4,6}
}
)";
  RandomDoubles random(34);
  Doubles x(ElementType::kF32, {4, 6});
  for (double& v : x.values) v = static_cast<double>(random.Int(-50, 50));
  const Literal result = RunGood(program, {x.ToLiteral()});
  for (size_t i = 0; i < x.values.size(); ++i)
    CHECK(result.GetDouble(static_cast<int64_t>(i)) == Approx(x.values[i]).margin(1e-4));
}

TEST_CASE("fft: imaginary parts that stand for nothing are ignored", "[fft]") {
  CHECK(Gives("fft", {"c64[3] {(10, 5), (-2, 2), (-2, 7)}"}, "f32[4] {1, 2, 3, 4}",
              ", fft_type=IRFFT, fft_length={4}"));
  CHECK(Gives("fft", {"c64[1] {(3, 9)}"}, "f32[1] {3}", ", fft_type=IRFFT, fft_length={1}"));
}

TEST_CASE("fft: a line with an infinity is NaN, other lines are not", "[fft]") {
  CHECK(Gives("fft", {"f32[2,2] {{inf, 1}, {1, 2}}"},
              "c64[2,2] {{(nan, nan), (nan, nan)}, {(3, 0), (-1, 0)}}", ", fft_type=RFFT, fft_length={2}"));
}

}  // namespace
}  // namespace assay
