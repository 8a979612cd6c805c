// Radii of what backends compute in several steps, and of functions of complex numbers, worked out by hand.
// In comments u is half the ulp of 1.
#include <cmath>
#include <limits>

#include "tests/check/bounds_testing.h"

namespace assay::testing {

// e = 2 u, the root 4 u: 1 + 0 has a radius of 4 u, its inverse root 2 u + 4 u; times the scale 8 u; and the
// sums 5 e.
TEST_CASE("bounds: batch-norm-inference of one number", "[check][bounds]") {
  const Literal one = Literal::FromDoubles(ElementType::kF32, {{1}}, {{1}});
  const Literal zero = Literal::FromDoubles(ElementType::kF32, {{1}}, {{0}});
  CHECK(RadiiOf(R"(ENTRY e { x = f32[1,1] parameter(0)
  scale = f32[1] parameter(1)
  offset = f32[1] parameter(2)
  mean = f32[1] parameter(3)
  var = f32[1] parameter(4)
  ROOT y = f32[1,1] batch-norm-inference(x, scale, offset, mean, var), epsilon=0, feature_index=1 })",
                {FloatMatrix(1, 1, {1}), one, zero, zero, one})[0] ==
        Approx(18 * kHalfUlpOfOne).epsilon(1e-3));
}

// Eight terms 3, …: the mean of n equal numbers x has (1 + sum) (1 + e)^3 - 1 = (n + 1) u + 3 e of it.
TEST_CASE("bounds: batch-norm-training's mean and variance", "[check][bounds]") {
  const Literal one = Literal::FromDoubles(ElementType::kF32, {{1}}, {{1}});
  const BoundedOutputs bounded = Bounded(R"(ENTRY e { x = f32[4,1] parameter(0)
  scale = f32[1] parameter(1)
  offset = f32[1] parameter(2)
  ROOT y = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, scale, offset), epsilon=1, feature_index=1 })",
                                         {FloatMatrix(4, 1, {3, 3, 3, 3}), one, one});
  REQUIRE(bounded.outputs.size() == 3);
  CHECK(bounded.outputs[1].radius->GetDouble(0) == Approx(3 * (5 + 6) * kHalfUlpOfOne).epsilon(1e-3));
  // K = 2 e + squares (5 u + 4 e) + twice the mean's 11 u and a rounding.
  CHECK(bounded.outputs[2].radius->GetDouble(0) ==
        Approx(9 * (4 + 13 + 22 + 2) * kHalfUlpOfOne).epsilon(1e-3));
  CHECK(bounded.outputs[0].radius->GetDouble(0) > 0);
}

// Blocks of two with one scale each: 3 * 2 * 1 + 1 * 2 * 1 = 8, of bf16 scales, which may be rounded to bf16.
TEST_CASE("bounds: scaled-dot is a dot of scaled operands", "[check][bounds]") {
  const auto radius = [](const std::string& type) {
    return RadiiOf(
        "ENTRY e { l = f32[1,2] parameter(0)\n  r = f32[2,1] parameter(1)\n  s = " + type +
            "[1,1] constant({{2}})\n  one = " + type +
            "[] constant(1)\n  ROOT d = f32[1,1] scaled-dot(l, r, s, one), lhs_contracting_dims={1}, "
            "rhs_contracting_dims={0} }",
        {FloatMatrix(1, 2, {3, 1}), FloatMatrix(2, 1, {1, 1})})[0];
  };
  // Two terms, and the backend's rounding and Assay's.
  CHECK(radius("f8e8m0fnu") == Approx(8 * (2 + 2) * kHalfUlpOfOne).epsilon(1e-3));
  CHECK(radius("bf16") == Approx(8 * ((1 + 0x1p-8) * (1 + 0x1p-8) - 1)).epsilon(1e-3));
}

// asin' = atanh' = 1 at 0, s' = 1/4; and half an ulp of the result twice.
TEST_CASE("bounds: functions of a complex disc", "[check][bounds]") {
  const auto at_zero = [](const std::string& op) {
    return RadiusBehindTen(
        "  c = f32[] constant(10)\n  d = f32[] subtract(ten, c)\n  z = c64[] complex(d, zero)\n"
        "  ROOT f = c64[] " +
        op + "\n");
  };
  CHECK(at_zero("asin(z)") == Approx(kRadiusBehindTen).epsilon(1e-3));
  CHECK(at_zero("asinh(z)") == Approx(kRadiusBehindTen).epsilon(1e-3));
  CHECK(at_zero("atanh(z)") == Approx(kRadiusBehindTen).epsilon(1e-3));
  CHECK(at_zero("logistic(z)") == Approx(0.25 * kRadiusBehindTen + kHalfUlpOfOne).epsilon(1e-3));
  // 0 lies on the cut of acosh.
  CHECK(at_zero("acosh(z)") == std::numeric_limits<double>::infinity());
  // 10^2: |v| 2 * 5 u and two roundings.
  CHECK(RadiusBehindTen("  z = c64[] complex(ten, zero)\n  two = c64[] constant((2, 0))\n"
                        "  ROOT p = c64[] power(z, two)\n") ==
        Approx(100 * (10 + 2) * kHalfUlpOfOne).epsilon(1e-3));
}

}  // namespace assay::testing
