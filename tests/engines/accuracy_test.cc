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

}  // namespace
}  // namespace assay::testing
