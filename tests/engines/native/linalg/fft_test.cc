// Fourier transforms of the native engine against the reference engine, and against sums in MPFR.
#include <mpfr.h>

#include <catch2/catch.hpp>

#include "base/guard_pages.h"
#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string Fft(const std::string& kind, const std::string& from, const std::string& to,
                const std::string& lengths) {
  return fmt::format(R"(x = {1} parameter(0)
ROOT y = {2} fft(x), fft_type={0}, fft_length={{{3}}})",
                     kind, from, to, lengths);
}
// All four kinds over the last dimension of a batch.
void CheckKinds(int batch, int n, std::initializer_list<Draw> draws) {
  const int half = n / 2 + 1;
  for (const bool wide : {false, true}) {
    const std::string real = wide ? "f64" : "f32", complex = wide ? "c128" : "c64";
    const std::string full = fmt::format("{}[{},{}]", complex, batch, n);
    const std::string halved = fmt::format("{}[{},{}]", complex, batch, half);
    const std::string reals = fmt::format("{}[{},{}]", real, batch, n), length = std::to_string(n);
    CheckAgainstReference(Fft("FFT", full, full, length), draws);
    CheckAgainstReference(Fft("IFFT", full, full, length), draws);
    CheckAgainstReference(Fft("RFFT", reals, halved, length), draws);
    CheckAgainstReference(Fft("IRFFT", halved, reals, length), draws);
  }
}

}  // namespace

TEST_CASE("native fft: every draw, small lengths", "[native][fft]") {
  for (int n = 1; n <= 18; ++n) CheckKinds(8, n, kAllDraws);
}

TEST_CASE("native fft: powers of two and mixed radices", "[native][fft]") {
  for (int n : {25, 32, 36, 49, 60, 64, 97, 100, 128})
    CheckKinds(2, n, {Draw::kNormal, Draw::kWide, Draw::kSmall, Draw::kLarge});
  CheckKinds(1, 1000, {Draw::kNormal});
  CheckKinds(1, 4096, {Draw::kNormal});
}

TEST_CASE("native fft: several dimensions", "[native][fft]") {
  for (const char* type : {"c64", "c128"}) {
    for (const char* kind : {"FFT", "IFFT"}) {
      const std::string shape = fmt::format("{}[2,6,10]", type), cube = fmt::format("{}[2,3,4,5]", type);
      CheckAgainstReference(Fft(kind, shape, shape, "6,10"), kAllDraws);
      CheckAgainstReference(Fft(kind, cube, cube, "3,4,5"), {Draw::kNormal, Draw::kIntegers, Draw::kLarge});
    }
  }
  CheckAgainstReference(Fft("RFFT", "f32[16,12]", "c64[16,7]", "16,12"), kAllDraws);
  CheckAgainstReference(Fft("RFFT", "f64[9,5,7]", "c128[9,5,4]", "9,5,7"), {Draw::kNormal, Draw::kIntegers});
  CheckAgainstReference(Fft("IRFFT", "c64[16,7]", "f32[16,12]", "16,12"), kAllDraws);
  CheckAgainstReference(Fft("IRFFT", "c128[9,5,4]", "f64[9,5,7]", "9,5,7"), {Draw::kNormal, Draw::kIntegers});
}

// Dimensions of several vectors and of some lanes more.
TEST_CASE("native fft: lines side by side", "[native][fft]") {
  for (const char* type : {"c64", "c128"}) {
    const std::string plane = fmt::format("{}[20,24]", type), cube = fmt::format("{}[3,9,16]", type);
    for (const char* kind : {"FFT", "IFFT"}) {
      CheckAgainstReference(Fft(kind, plane, plane, "20,24"), kAllDraws);
      CheckAgainstReference(Fft(kind, cube, cube, "3,9,16"), {Draw::kNormal, Draw::kWide, Draw::kTies});
    }
  }
  CheckAgainstReference(Fft("RFFT", "f32[20,24]", "c64[20,13]", "20,24"), kAllDraws);
  CheckAgainstReference(Fft("RFFT", "f64[19,16]", "c128[19,9]", "19,16"), {Draw::kNormal, Draw::kWide});
  CheckAgainstReference(Fft("IRFFT", "c64[20,13]", "f32[20,24]", "20,24"), kAllDraws);
  CheckAgainstReference(Fft("IRFFT", "c128[19,9]", "f64[19,16]", "19,16"), {Draw::kNormal, Draw::kWide});
}

TEST_CASE("native fft: a line that threads share", "[native][fft]") {
  for (const auto& [shape, lengths] :
       {std::pair{"c64[16384]", "16384"}, {"c64[128,128]", "128,128"}, {"c128[100,164]", "100,164"}}) {
    int kernels = 0;
    const Plan reference = ReferencePlan(Fft("FFT", shape, shape, lengths));
    const std::vector<Literal> arguments = DrawnArguments(reference, Draw::kNormal, 3);
    const absl::StatusOr<Literal> wanted = RunPlan(reference, arguments);
    for (Isa isa : MachineIsas()) {
      const Plan plan = NativePlan(reference, isa, &kernels);
      REQUIRE(kernels == 1);
      for (int jobs : {1, 2, 7}) {
        for (ArrayGuard guard : {ArrayGuard::kNone, ArrayGuard::kBehind, ArrayGuard::kInFront}) {
          const GuardedArrays guarded(guard);
          const absl::StatusOr<Literal> result = RunPlan(plan, arguments, jobs);
          REQUIRE(result.ok());
          CHECK(Literal::BitwiseEqual(*wanted, *result));
        }
      }
    }
  }
}

// The definition in 400 bits: X[k] = sum of x[j] (cos - i sin)(2 pi j k / n), for components not near zero.
TEST_CASE("native fft: a component is its defining sum, rounded once", "[native][fft]") {
  constexpr int64_t kN = 90;
  constexpr mpfr_prec_t kBits = 400;
  for (const char* type : {"c64", "c128"}) {
    int kernels = 0;
    const std::string shape = fmt::format("{}[{}]", type, kN);
    const Plan plan = NativePlan(ReferencePlan(Fft("FFT", shape, shape, "90")), MachineIsa(), &kernels);
    const std::vector<Literal> arguments = DrawnArguments(plan, Draw::kNormal, 11);
    const absl::StatusOr<Literal> result = RunPlan(plan, arguments);
    REQUIRE(result.ok());
    const int64_t bytes = Bytes(*ElementTypeFromName(type));
    const auto element = [bytes, type](const Literal& literal, int64_t i) {
      return LoadElement(*ElementTypeFromName(type), literal.data() + i * bytes).c;
    };
    mpfr_t re, im, angle, sine, cosine, term;
    mpfr_inits2(kBits, re, im, angle, sine, cosine, term, nullptr);
    int wrong = 0;
    for (int64_t k = 0; k < kN; ++k) {
      mpfr_set_zero(re, 1);
      mpfr_set_zero(im, 1);
      for (int64_t j = 0; j < kN; ++j) {
        mpfr_const_pi(angle, MPFR_RNDN);
        mpfr_mul_si(angle, angle, 2 * (j * k % kN), MPFR_RNDN);
        mpfr_div_si(angle, angle, kN, MPFR_RNDN);
        mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
        const std::complex<double> x = element(arguments[0], j);
        mpfr_mul_d(term, cosine, x.real(), MPFR_RNDN);
        mpfr_add(re, re, term, MPFR_RNDN);
        mpfr_mul_d(term, sine, x.imag(), MPFR_RNDN);
        mpfr_add(re, re, term, MPFR_RNDN);
        mpfr_mul_d(term, cosine, x.imag(), MPFR_RNDN);
        mpfr_add(im, im, term, MPFR_RNDN);
        mpfr_mul_d(term, sine, x.real(), MPFR_RNDN);
        mpfr_sub(im, im, term, MPFR_RNDN);
      }
      const bool narrow = bytes == 8;
      const std::complex<double> got = element(*result, k);
      const double wanted[] = {narrow ? mpfr_get_flt(re, MPFR_RNDN) : mpfr_get_d(re, MPFR_RNDN),
                               narrow ? mpfr_get_flt(im, MPFR_RNDN) : mpfr_get_d(im, MPFR_RNDN)};
      wrong += (got.real() != wanted[0]) + (got.imag() != wanted[1]);
    }
    mpfr_clears(re, im, angle, sine, cosine, term, nullptr);
    INFO(type);
    CHECK(wrong == 0);
  }
}

}  // namespace assay::testing
