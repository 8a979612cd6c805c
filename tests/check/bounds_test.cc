// Radii worked out by hand, and what becomes of elements that are not decided.
#include <cmath>

#include "check/conformance.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

// Units of roundoff, and the smallest subnormal number, of f32.
const double u = std::ldexp(1, -24);

// A reducer, and a sum whose value is 10 and whose radius is that of 3 additions (the start value is 0):
// g = 3 u of magnitudes that sum up to 10, and half an ulp for the backend's last rounding and ours:
// (30 + 10 + 10) u... an ulp being at most 2 u of 1.
constexpr char kSum[] = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
)";
const double kRadiusOfSum = 30 * u + 2 * 10 * u;

Literal OneToFour() { return Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}}); }

double RadiusBehindSum(const std::string& rest, const std::string& profile = "") {
  const std::vector<double> radii = RadiiOf(kSum + rest + "}", {OneToFour()}, profile);
  REQUIRE(radii.size() == 1);
  return radii[0];
}

}  // namespace

TEST_CASE("bounds: basic operations on exact numbers are exact where they are rounded correctly", "[check]") {
  CHECK(Bounded(R"(ENTRY e { x = f32[4] parameter(0)
  y = f32[4] multiply(x, x)
  z = f32[4] divide(y, x)
  ROOT r = f32[4] subtract(z, x) })",
                {OneToFour()})
            .outputs[0]
            .radius.has_value() == false);
}

TEST_CASE("bounds: a sum in any order", "[check]") {
  CHECK(RadiusBehindSum("  ROOT r = f32[] negate(sum)\n") == Approx(kRadiusOfSum).epsilon(1e-5));
}

// 256 + 1 + 1 + 1 = 259, in bf16 260; addition by addition in bf16 256, as 257 is rounded to 256 each time.
TEST_CASE("bounds: a window's sum may be rounded to its type addition by addition", "[check]") {
  const std::string add = R"(add { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b) }
ENTRY e { x = bf16[4] parameter(0)
  zero = bf16[] constant(0)
)";
  const Literal x = Literal::FromDoubles(ElementType::kBF16, {{4}}, {{256, 1, 1, 1}});
  const auto radius = [&](const std::string& sum) {
    return RadiiOf(add + "  ROOT r = " + sum + ", to_apply=add }", {x}, "accumulate bf16 f32")[0];
  };
  const double window = radius("bf16[1] reduce-window(x, zero), window={size=4}");
  CHECK(window >= 4);
  CHECK(window < 8);
  CHECK(radius("bf16[] reduce(x, zero), dimensions={0}") < 4);
}

TEST_CASE("bounds: arithmetic on what has a radius", "[check]") {
  // 10 * 3: |3| r, and half an ulp twice of 30.
  CHECK(RadiusBehindSum("  c = f32[] constant(3)\n  ROOT r = f32[] multiply(sum, c)\n") ==
        Approx(3 * kRadiusOfSum + 2 * 30 * u).epsilon(1e-5));
  // 10 * 10: 2 |10| r + r^2.
  CHECK(RadiusBehindSum("  ROOT r = f32[] multiply(sum, sum)\n") ==
        Approx(20 * kRadiusOfSum + 2 * 100 * u).epsilon(1e-5));
  // 10 + 10: 2 r.
  CHECK(RadiusBehindSum("  ROOT r = f32[] add(sum, sum)\n") ==
        Approx(2 * kRadiusOfSum + 2 * 20 * u).epsilon(1e-5));
  // 1 / 10: r / 10 / (10 - r).
  CHECK(RadiusBehindSum("  c = f32[] constant(1)\n  ROOT r = f32[] divide(c, sum)\n") ==
        Approx(0.1 * kRadiusOfSum / 10 + 2 * 0.1 * u).epsilon(1e-4));
}

TEST_CASE("bounds: functions", "[check]") {
  // exp(10): e^10 r, and 2.5 ulps.
  CHECK(RadiusBehindSum("  ROOT r = f32[] exponential(sum)\n", "ulps exponential * 2\n") ==
        Approx(std::exp(10) * (kRadiusOfSum + 5 * u)).epsilon(1e-4));
  CHECK(RadiusBehindSum("  ROOT r = f32[] log(sum)\n") ==
        Approx(kRadiusOfSum / 10 + 2 * std::log(10) * u).epsilon(1e-4));
  CHECK(RadiusBehindSum("  ROOT r = f32[] sqrt(sum)\n") ==
        Approx(kRadiusOfSum / std::sqrt(10) + 2 * std::sqrt(10) * u).epsilon(1e-4));
  CHECK(RadiusBehindSum("  ROOT r = f32[] rsqrt(sum)\n") ==
        Approx(0.5 * kRadiusOfSum / std::pow(10, 1.5) + 2 / std::sqrt(10) * u).epsilon(1e-4));
  CHECK(RadiusBehindSum("  ROOT r = f32[] cbrt(sum)\n") ==
        Approx(kRadiusOfSum / 3 / std::pow(10, 2 / 3.0) + 2 * std::cbrt(10) * u).epsilon(1e-4));
}

TEST_CASE("bounds: a comparison is decided where the intervals are apart", "[check]") {
  CHECK(RadiusBehindSum("  c = f32[] constant(11)\n  ROOT p = pred[] compare(sum, c), direction=LT\n") == 0);
  CHECK(RadiusBehindSum("  c = f32[] constant(10)\n  ROOT p = pred[] compare(sum, c), direction=LT\n") == 1);
  // What is chosen by it may be either side: 5 +- 2.
  const std::string choice =
      "  p = pred[] compare(sum, c), direction=LT\n  a = f32[] constant(3)\n  b = f32[] constant(5)\n"
      "  ROOT r = f32[] select(p, a, b)\n";
  CHECK(RadiusBehindSum("  c = f32[] constant(10)\n" + choice) == Approx(2));
  CHECK(RadiusBehindSum("  c = f32[] constant(11)\n" + choice) == 0);
}

TEST_CASE("bounds: steps", "[check]") {
  CHECK(RadiusBehindSum("  h = f32[] constant(0.5)\n  a = f32[] add(sum, h)\n  ROOT r = f32[] floor(a)\n") ==
        0);
  CHECK(RadiusBehindSum("  ROOT r = f32[] floor(sum)\n") == Approx(1).epsilon(1e-3));
  CHECK(RadiusBehindSum(
            "  h = f32[] constant(0.5)\n  a = f32[] add(sum, h)\n  ROOT r = s32[] convert(a)\n") == 0);
  CHECK(RadiusBehindSum("  ROOT r = s32[] convert(sum)\n") == Approx(1).epsilon(1e-3));
}

TEST_CASE("bounds: the larger of two is decided where they are apart", "[check]") {
  CHECK(RadiusBehindSum("  c = f32[] constant(12)\n  ROOT r = f32[] maximum(sum, c)\n") == 0);
  CHECK(RadiusBehindSum("  c = f32[] constant(10)\n  ROOT r = f32[] maximum(sum, c)\n") ==
        Approx(kRadiusOfSum).epsilon(1e-5));
}

TEST_CASE("bounds: a dot is bounded by a dot of magnitudes", "[check]") {
  // |a| . |b| = 1 + 4 + 9 + 16 = 30 for signs of any kind; g = 4 u, and the result's own 2 u |v|,
  // v = 1 - 4 + 9 - 16 = -10.
  const Literal b = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, -2, 3, -4}});
  const std::vector<double> radii = RadiiOf(R"(ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} })",
                                            {OneToFour(), b});
  CHECK(radii[0] == Approx(4 * 30 * u + 2 * 10 * u).epsilon(1e-5));
  // Operands that are cut to 11 bits: 2^-10 of each more.
  const std::vector<double> cut = RadiiOf(R"(ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} })",
                                          {OneToFour(), b}, "dot_input_bits f32 11\n");
  CHECK(cut[0] == Approx(30 * std::ldexp(1, -8)).epsilon(2e-2));
}

TEST_CASE("bounds: loops whose end is decided carry radii, others are unchecked", "[check]") {
  const std::string loop = R"(body { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[] add(v, v)
  ROOT t = (s32[], f32[]) tuple(j, w) }
test { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[] get-tuple-element(s), index=1
  three = s32[] constant(3)
  limit = f32[] constant(LIMIT)
  by_count = pred[] compare(i, three), direction=LT
  by_value = pred[] compare(v, limit), direction=LT
  ROOT p = pred[] copy(WHICH) }
)";
  const std::string end =
      "  z = s32[] constant(0)\n  s = (s32[], f32[]) tuple(z, sum)\n"
      "  l = (s32[], f32[]) while(s), condition=test, body=body\n  ROOT r = f32[] get-tuple-element(l), "
      "index=1\n}";
  const auto radius = [&](std::string text, const std::string& which, const std::string& limit) {
    text.replace(text.find("WHICH"), 5, which);
    text.replace(text.find("LIMIT"), 5, limit);
    return RadiiOf(text + kSum + end, {OneToFour()})[0];
  };
  // Three doublings: 8 r, and the roundings of 20, 40 and 80.
  CHECK(radius(loop, "by_count", "0") == Approx(8 * kRadiusOfSum + 3 * 2 * 80 * u).epsilon(1e-4));
  CHECK(radius(loop, "by_value", "70") == Approx(8 * kRadiusOfSum + 3 * 2 * 80 * u).epsilon(1e-4));
  CHECK(std::isinf(radius(loop, "by_value", "80")));
}

TEST_CASE("bounds: a branch that is not decided is unchecked", "[check]") {
  const std::string branches = R"(one { x = f32[] parameter(0)
  ROOT r = f32[] negate(x) }
two { x = f32[] parameter(0)
  ROOT r = f32[] exponential(x) }
)";
  const auto radius = [&](const std::string& limit) {
    return RadiiOf(
        branches + kSum + "  c = f32[] constant(" + limit +
            ")\n  p = pred[] compare(sum, c), direction=LT\n"
            "  ROOT r = f32[] conditional(p, sum, c), true_computation=one, false_computation=two\n}",
        {OneToFour()})[0];
  };
  CHECK(radius("11") == Approx(kRadiusOfSum).epsilon(1e-5));
  CHECK(std::isinf(radius("10")));
}

TEST_CASE("bounds: infinities and NaNs of exact operands are certain", "[check]") {
  // A mask of -inf over something that is not exact.
  CHECK(std::isfinite(RadiusBehindSum(
      "  c = f32[] constant(-inf)\n  m = f32[] add(sum, c)\n  ROOT r = f32[] exponential(m)\n")));
  CHECK(RadiusBehindSum(
            "  c = f32[] constant(-1e30)\n  m = f32[] add(sum, c)\n  ROOT r = f32[] exponential(m)\n") <
        1e-37);
  const std::vector<double> radii =
      RadiiOf("ENTRY e { x = f32[4] parameter(0)\n  n = f32[4] negate(x)\n  ROOT l = f32[4] log(n) }",
              {OneToFour()}, "ulps * * 3\n");
  CHECK(radii[0] == 0);
  // The largest number times 1 and a radius may be infinite.
  CHECK(std::isinf(RadiusBehindSum("  c = f32[] constant(3.4e37)\n  ROOT r = f32[] multiply(sum, c)\n")) ==
        false);
  CHECK(
      std::isinf(RadiusBehindSum("  c = f32[] constant(3.4028234e37)\n  ROOT r = f32[] multiply(sum, c)\n")));
}

TEST_CASE("bounds: where there is no rule the reason is told", "[check]") {
  const BoundedOutputs bounded = Bounded(R"(f { a = f32[] parameter(0)
  k = f32[] parameter(1)
  s = f32[] add(a, k)
  ROOT t = (f32[], f32[]) tuple(s, s) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT c = (f32[4], f32[]) scan(x, zero), dimensions={0}, num_carries=1, to_apply=f })",
                                         {OneToFour()});
  REQUIRE(bounded.unchecked.size() == 1);
  CHECK(bounded.unchecked[0].instruction == "c");
  CHECK(CompareToBounds(bounded.outputs[0], &bounded.outputs[0].exact).unchecked == 4);
}

TEST_CASE("bounds: sums of scattered updates are as uncertain as what fell together", "[check]") {
  const Literal indices = Literal::FromInts(ElementType::kS32, {{4, 1}}, {{0, 0, 1, 0}});
  const std::vector<double> radii = RadiiOf(R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  i = s32[4,1] parameter(1)
  z = f32[] constant(0)
  o = f32[3] broadcast(z), dimensions={}
  ROOT r = f32[3] scatter(o, i, x), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
      index_vector_dim=1, to_apply=add })",
                                            {OneToFour(), indices});
  CHECK(radii[0] == Approx(6 * u * 7).epsilon(1e-4));  // 1 + 2 + 4, three of them
  CHECK(radii[1] == Approx(2 * u * 3).epsilon(1e-4));
  CHECK(radii[2] == 0);
}

TEST_CASE("bounds: a judgement", "[check]") {
  BoundedOutput output{"out0", OneToFour(),
                       Literal::FromDoubles(ElementType::kF32, {{4}}, {{0.5, 0.5, 0, INFINITY}})};
  const Literal actual = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.25, 2.75, 3.0000002, 100}});
  const Conformance result = CompareToBounds(output, &actual);
  CHECK(result.elements == 4);
  CHECK(result.inside == 1);
  CHECK(result.outside == 2);
  CHECK(result.unchecked == 1);
  REQUIRE(result.worst.size() == 3);
  CHECK(result.worst[0].index == DimVector{2});
  CHECK(result.worst[1].share == 1.5);
  CHECK(CompareToBounds(output, nullptr).error == "the backend gave no such output");
  const Literal nan = Literal::FromDoubles(ElementType::kF32, {{4}}, {{NAN, 2, 3, 4}});
  CHECK(CompareToBounds(output, &nan).outside == 1);
}

}  // namespace assay::testing
