// Bounds by numbers worked out by hand.
#include "engines/accuracy.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay::testing {
namespace {

ExactElement Exact(const float& value) {
  return {ElementType::kF32, reinterpret_cast<const std::byte*>(&value), nullptr};
}
bool Allows(const Accuracy& accuracy, float exact, float actual) {
  return accuracy.Allows(Exact(exact), reinterpret_cast<const std::byte*>(&actual));
}
bool AllowsSum(const Accuracy& accuracy, const SumOfTerms& sum, float actual) {
  const float rounded = static_cast<float>(sum.sum);
  ExactElement exact = Exact(rounded);
  exact.sum = &sum;
  return accuracy.Allows(exact, reinterpret_cast<const std::byte*>(&actual));
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("accuracy: bit-exact tells zeros and NaNs apart by their bits", "[accuracy]") {
  CHECK(Allows(BitExact(), 1.5f, 1.5f));
  CHECK(Allows(BitExact(), kNaN, kNaN));
  CHECK_FALSE(Allows(BitExact(), 0.0f, -0.0f));
  CHECK_FALSE(Allows(BitExact(), 1.0f, 1.0f + 0x1p-23f));
  CHECK(BitExact().Bound() == "bit-exact");
}

TEST_CASE("accuracy: within n ulps, of one sign, infinity behind the largest", "[accuracy]") {
  CHECK(Allows(WithinUlps(2), 1.0f, 1.0f + 0x1p-22f));          // two steps up
  CHECK_FALSE(Allows(WithinUlps(2), 1.0f, 1.0f + 0x1.8p-22f));  // three
  CHECK(Allows(WithinUlps(1), 1.0f, 1.0f - 0x1p-24f));          // below 1 steps are half as long
  CHECK_FALSE(Allows(WithinUlps(1), 1.0f, 1.0f - 0x1p-23f));
  CHECK_FALSE(Allows(WithinUlps(1), 0.0f, -0.0f));
  CHECK(Allows(WithinUlps(1), 0x1.fffffep127f, kInfinity));
  CHECK_FALSE(Allows(WithinUlps(16), 1.0f, kNaN));
  CHECK_FALSE(Allows(WithinUlps(16), kNaN, 1.0f));
}

TEST_CASE("accuracy: sums in f32 are within gamma (n + 2) of the sum of magnitudes", "[accuracy]") {
  // 2 terms: gamma = 4 u / (1 - 4 u) = 2^-22 (1 + 2^-22 + …), so with a magnitude of 1 the
  // ends are 1 ± 2^-22, rounded.
  const SumOfTerms sum{.sum = 1, .magnitude = 1, .subnormal = 0, .terms = 2};
  CHECK(AllowsSum(SumInF32(), sum, 1.0f + 0x1p-22f));
  CHECK_FALSE(AllowsSum(SumInF32(), sum, 1.0f + 0x1.8p-22f));
  CHECK(AllowsSum(SumInF32(), sum, 1.0f - 0x1p-22f));
  CHECK_FALSE(AllowsSum(SumInF32(), sum, 1.0f - 0x1.4p-22f));
  // The same in f64 is nothing in f32.
  CHECK(AllowsSum(SumInF64(), sum, 1.0f));
  CHECK_FALSE(AllowsSum(SumInF64(), sum, 1.0f + 0x1p-23f));
  // Cancelling: the bound follows the magnitudes, not the sum.
  CHECK(AllowsSum(SumInF32(), {.sum = 0, .magnitude = 8, .subnormal = 0, .terms = 2}, 0x1p-19f));
  CHECK_FALSE(AllowsSum(SumInF32(), {.sum = 0, .magnitude = 8, .subnormal = 0, .terms = 2}, 0x1.1p-19f));
}

TEST_CASE("accuracy: sums whose subnormal factors may count as zero, infinite sums and NaN", "[accuracy]") {
  const SumOfTerms tiny{.sum = 0x1p-120, .magnitude = 0x1p-120, .subnormal = 0x1p-120, .terms = 1};
  CHECK(AllowsSum(SumInF32WithoutSubnormals(), tiny, 0.0f));
  CHECK_FALSE(AllowsSum(SumInF32(), tiny, 0.0f));
  const SumOfTerms infinite{.sum = HUGE_VAL, .magnitude = HUGE_VAL, .subnormal = 0, .terms = 2};
  CHECK(AllowsSum(SumInF32(), infinite, kInfinity));
  CHECK(AllowsSum(SumInF32(), infinite, kNaN));
  CHECK_FALSE(AllowsSum(SumInF32(), infinite, 1.0f));
  // Partial sums may leave f32's range where the magnitudes do.
  CHECK(AllowsSum(SumInF32(), {.sum = 1, .magnitude = 0x1p128, .subnormal = 0, .terms = 2}, -kInfinity));
}

TEST_CASE("accuracy: sums on tensor cores are within what is cut of their groups", "[accuracy]") {
  // 8 terms are one group: 9 numbers are cut at 2^-25 and one sum at 2^-23, 13 2^-25 in all. Near 1 floats
  // are 4 2^-25 apart, so the ends are 3 steps away, and 7 of half the size below 1.
  const TensorCoreSums hopper({.fraction_bits = 25, .terms_of_group = 8});
  const SumOfTerms sum{.sum = 1, .magnitude = 1, .subnormal = 0, .terms = 8};
  CHECK(AllowsSum(hopper, sum, 1.0f + 3 * 0x1p-23f));
  CHECK_FALSE(AllowsSum(hopper, sum, 1.0f + 4 * 0x1p-23f));
  CHECK(AllowsSum(hopper, sum, 1.0f - 7 * 0x1p-24f));
  CHECK_FALSE(AllowsSum(hopper, sum, 1.0f - 8 * 0x1p-24f));
  // Groups of 2: 12 numbers and 4 sums, 28 2^-25. So it is where any k may be no term, for 8 sums: 48 2^-25.
  const TensorCoreSums pairs({.fraction_bits = 25, .terms_of_group = 2});
  CHECK(AllowsSum(pairs, sum, 1.0f + 7 * 0x1p-23f));
  CHECK_FALSE(AllowsSum(pairs, sum, 1.0f + 8 * 0x1p-23f));
  const TensorCoreSums gaps({.fraction_bits = 25, .terms_of_group = 2, .has_gaps = true});
  CHECK(AllowsSum(gaps, sum, 1.0f + 12 * 0x1p-23f));
  CHECK_FALSE(AllowsSum(gaps, sum, 1.0f + 13 * 0x1p-23f));
  CHECK(
      hopper.Bound() ==
      "sums on tensor cores: within ((n + g) 2^-25 + g 2^-23) times the sum of magnitudes, g = n / 8 groups");
}

TEST_CASE("accuracy: factors that are rounded to TF32 first", "[accuracy]") {
  // d = 2^-10 + 2^-22; all else is below 2^-19.
  const TensorCoreSums tf32({.factor_bits = 11, .fraction_bits = 24, .terms_of_group = 4});
  const SumOfTerms sum{.sum = 0, .magnitude = 4, .subnormal = 0, .terms = 8};
  CHECK(AllowsSum(tf32, sum, 0x1.004p-8f));
  CHECK_FALSE(AllowsSum(tf32, sum, 0x1.01p-8f));
  // Subnormal factors may count as zero; with those of other types they do not.
  const SumOfTerms tiny{.sum = 0x1p-120, .magnitude = 0x1p-120, .subnormal = 0x1p-120, .terms = 1};
  CHECK(AllowsSum(tf32, tiny, 0.0f));
  CHECK_FALSE(AllowsSum(TensorCoreSums({}), tiny, 0.0f));
  const SumOfTerms infinite{.sum = HUGE_VAL, .magnitude = HUGE_VAL, .subnormal = 0, .terms = 2};
  CHECK(AllowsSum(tf32, infinite, kInfinity));
  CHECK(AllowsSum(tf32, infinite, kNaN));
  CHECK_FALSE(AllowsSum(tf32, infinite, 1.0f));
  CHECK_FALSE(AllowsSum(tf32, sum, kNaN));
}

TEST_CASE("accuracy: results with a relative and an absolute error", "[accuracy]") {
  // 2^-22 of 1, and 2^-24: a little more than 2.5 steps, and 5 of those below 1.
  const WithinError relative(0x1p-22, 0);
  CHECK(Allows(relative, 1.0f, 1.0f + 2 * 0x1p-23f));
  CHECK_FALSE(Allows(relative, 1.0f, 1.0f + 4 * 0x1p-23f));
  CHECK(Allows(relative, 1.0f, 1.0f - 5 * 0x1p-24f));
  CHECK_FALSE(Allows(relative, 1.0f, 1.0f - 6 * 0x1p-24f));
  CHECK_FALSE(Allows(relative, 0x1p-100f, 0.0f));
  // Beside zero the absolute one counts, of either sign.
  const WithinError absolute(0, 0x1p-20);
  CHECK(Allows(absolute, 0.0f, -0x1p-20f));
  CHECK_FALSE(Allows(absolute, 0.0f, 0x1.00001p-20f));
  CHECK(Allows(relative, kInfinity, 0x1.fffffep127f));
  CHECK_FALSE(Allows(relative, kInfinity, 0x1.fffff0p127f));
  CHECK(Allows(relative, 0x1.fffffep127f, kInfinity));
  CHECK_FALSE(Allows(relative, kInfinity, -kInfinity));
  CHECK(Allows(absolute, kNaN, kNaN));
  CHECK_FALSE(Allows(absolute, kNaN, 0.0f));
  CHECK_FALSE(Allows(absolute, 0.0f, kNaN));
  CHECK(relative.Bound() == "within 2^-22 of the result, rounded once");
  CHECK(WithinError(0x1p-11, 0x1.8p-20).Bound() == "within 2^-11 of the result + 2^-19.4, rounded once");
}

}  // namespace
}  // namespace assay::testing
