// Radii of Fourier transforms, worked out by hand.
#include <cmath>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
// Two passes of radix 2, 6 each, and one unit more, of sum |x| = 4; by norms it is 8 * 2 * 4. Of one number
// among zeros a real transform of 8 has (1.5 * 18 + 10) of sum |x| = 1. Of lengths with large primes the
// norms alone are known.
TEST_CASE("bounds: a Fourier transform by its passes", "[bounds]") {
  const auto radii = [](const std::vector<double>& x, const std::string& kind) {
    const auto n = static_cast<int64_t>(x.size());
    const std::string size = std::to_string(n), bins = std::to_string(kind == "RFFT" ? n / 2 + 1 : n);
    const std::string y = kind == "RFFT" ? "f32[" + size + "] negate(x)" : "c64[" + size + "] convert(x)";
    return RadiiOf("ENTRY e { x = f32[" + size + "] parameter(0)\n  y = " + y + "\n  ROOT r = c64[" + bins +
                       "] fft(y), fft_type=" + kind + ", fft_length={" + size + "} }",
                   {Literal::FromDoubles(ElementType::kF32, {{n}}, x)});
  };
  CHECK(radii({1, 1, 1, 1}, "FFT")[1] == Approx(13 * 4 * kHalfUlpOfOne).epsilon(1e-4));
  CHECK(radii({1, 1, 1, 1}, "FFT")[0] == Approx((13 * 4 + 2 * 4) * kHalfUlpOfOne).epsilon(1e-4));
  CHECK(radii({1, 0, 0, 0, 0, 0, 0, 0}, "RFFT")[1] ==
        Approx((1.5 * 18 + 10 + 2) * kHalfUlpOfOne).epsilon(1e-4));
  CHECK(radii(std::vector<double>(17, 1), "FFT")[1] ==
        Approx(8 * std::log2(17) * 17 * kHalfUlpOfOne).epsilon(1e-4));
}

// The spectrum of (1, 1, 1, 1) is (4, 0, 0, 0). It is off by at most (8 * 2 + 2) u sqrt(4) |x| = 72 u in its
// norm, of which each number of the inverse has a half, where the radii of the spectrum add up to 60 + 3 * 52
// in units of roundoff, of which it would have a quarter; of its own 13 of sum |X| / 4 = 1, and an ulp of 1.
TEST_CASE("bounds: transforms behind each other by their norms", "[bounds]") {
  const auto radius = [](const std::string& rest) {
    return RadiiOf(
        "ENTRY e { x = f32[4] parameter(0)\n  z = c64[4] convert(x)\n"
        "  f = c64[4] fft(z), fft_type=FFT, fft_length={4}\n" +
            rest + "  ROOT r = c64[4] fft(p), fft_type=IFFT, fft_length={4} }",
        {Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 1, 1, 1}})})[0];
  };
  // Of a negation no norm is known but that of the radii, which is 108.
  CHECK(radius("  p = c64[4] negate(f)\n") == Approx((216 / 4.0 + 13 + 2) * kHalfUlpOfOne).epsilon(1e-4));
  // Times numbers of modulus 1, which are exact, and an ulp of 4: half of the norm 72 + 8, where a quarter of
  // |z| 72 + 8 = 152 is less.
  CHECK(radius("  p = c64[4] multiply(f, z)\n") ==
        Approx(((2 * 72 + 8) / 4.0 + 13 + 2) * kHalfUlpOfOne).epsilon(1e-4));
}

}  // namespace assay::testing
