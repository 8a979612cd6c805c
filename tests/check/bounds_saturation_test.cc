// Results that are certain though an operand is not: saturated functions, overflow to one side, masks, exact
// zeros. And the numbers that steps can reach.
#include <cmath>
#include <set>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

// sum = 10, with a radius of 50 u (bounds_test.cc).
constexpr char kTen[] = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
most { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  lowest = f32[] constant(-3.40282347e+38)
  infinite = f32[] constant(-inf)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
)";
const double kRoundoff = std::ldexp(1, -24);

BoundedOutput Of(const std::string& rest, const std::string& profile = "") {
  const Literal x = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}});
  return Bounded(kTen + rest + "}", {x}, profile).outputs[0];
}
double Radius(const std::string& rest, const std::string& profile = "") {
  const BoundedOutput output = Of(rest, profile);
  return output.radius ? output.radius->GetDouble(0) : 0;
}
// What becomes of one value of the first output.
enum class Verdict { kInside, kOutside, kUndecided };
Verdict VerdictOf(const BoundedOutput& output, double actual) {
  const ElementType type = output.exact.shape().element_type();
  const Literal value = IsFloat(type) ? Literal::ScalarDouble(type, actual)
                                      : Literal::ScalarInt(type, static_cast<int64_t>(actual));
  const Conformance result = CompareToBounds(output, &value);
  return result.unchecked > 0 ? Verdict::kUndecided
         : result.outside > 0 ? Verdict::kOutside
                              : Verdict::kInside;
}

}  // namespace

// Of {max, max, -max, -max} the sum is 0, and max + max is infinite: a backend may add them in this order.
TEST_CASE("saturation: sums that may overflow on the way are undecided", "[check][bounds]") {
  const auto sum = [](std::vector<double> terms, const std::string& rest) {
    const Literal x = Literal::FromDoubles(ElementType::kF32, {{4}}, terms);
    const BoundedOutput output = Bounded(kTen + rest + "}", {x}).outputs[0];
    return output.radius ? output.radius->GetDouble(0) : 0;
  };
  const double most = 3.4028234663852886e38;
  for (const char* const rest :
       {"  ROOT r = f32[] copy(sum)\n",
        "  ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"}) {
    INFO(rest);
    CHECK(std::isfinite(sum({1, -1, 2, 3}, rest)));
  }
  CHECK(std::isinf(sum({most, most, -most, -most}, "  ROOT r = f32[] copy(sum)\n")));
  CHECK(std::isfinite(sum({most / 8, most / 8, -most / 8, -most / 8}, "  ROOT r = f32[] copy(sum)\n")));
  const std::string product = R"(  signs = f32[4] constant({1, 1, -1, -1})
  ROOT r = f32[] dot(x, signs), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)";
  CHECK(std::isinf(sum({most, most, most, most}, product)));
  CHECK(std::isfinite(sum({most / 8, most / 8, most / 8, most / 8}, product)));
}

// In f16 the squares of 300 have no room, and neither has 2 * 60000.
TEST_CASE("saturation: batch-norm and triangular-solve that may overflow on the way", "[check][bounds]") {
  const auto radius = [](const std::string& program, std::vector<double> values, std::vector<int64_t> sizes) {
    const Literal x = Literal::FromDoubles(ElementType::kF16, sizes, values);
    const BoundedOutput output = Bounded(program, {x}).outputs[0];
    return output.radius ? output.radius->GetDouble(output.radius->shape().num_elements() - 1) : 0;
  };
  const std::string variance = R"(ENTRY e { x = f16[2,1] parameter(0)
  scale = f16[1] constant({1})
  offset = f16[1] constant({0})
  all = (f16[2,1], f16[1], f16[1]) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1
  ROOT v = f16[1] get-tuple-element(all), index=2 })";
  CHECK(std::isinf(radius(variance, {300, 300}, {2, 1})));
  CHECK(std::isfinite(radius(variance, {3, 3}, {2, 1})));
  const std::string solution = R"(ENTRY e { a = f16[2,2] parameter(0)
  b = f16[2,1] constant({{2}, {0}})
  ROOT x = f16[2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE })";
  CHECK(std::isinf(radius(solution, {1, 0, 60000, 1}, {2, 2})));
  CHECK(std::isfinite(radius(solution, {1, 0, 6, 1}, {2, 2})));
}

TEST_CASE("saturation: e to what may overflow to -inf is 0", "[check][bounds]") {
  // -max - 10 and whatever a backend makes of it: -max, or -inf.
  const std::string masked = "  m = f32[] subtract(lowest, sum)\n";
  CHECK(std::isinf(Radius(masked + "  ROOT r = f32[] negate(m)\n")));
  CHECK(Radius(masked + "  ROOT r = f32[] exponential(m)\n", "ulps exponential f32 2.5") < 1e-40);
  CHECK(Radius(masked + "  ROOT r = f32[] logistic(m)\n", "ulps logistic f32 2.5") < 1e-40);
  CHECK(Radius(masked + "  ROOT r = f32[] tanh(m)\n") < 4 * kRoundoff);
  CHECK(Radius(masked + "  ROOT r = f32[] erf(m)\n") < 4 * kRoundoff);
  CHECK(Radius(masked + "  ROOT r = f32[] maximum(m, zero)\n") == 0);
  CHECK(Radius(masked + "  ROOT r = f32[] sign(m)\n") == 0);
  CHECK(Radius(masked + "  ROOT r = pred[] compare(m, sum), direction=LT\n") == 0);
  CHECK(Radius(masked + "  ROOT r = f32[] clamp(zero, m, sum)\n") == 0);
  CHECK(Radius(masked + "  ROOT r = s8[] convert(m)\n") == 0);
  // e^0.1 is not e^0, whatever lies around: a wrong value is seen.
  const BoundedOutput zero = Of(masked + "  ROOT r = f32[] exponential(m)\n");
  CHECK(VerdictOf(zero, 0) == Verdict::kInside);
  CHECK(VerdictOf(zero, 1e-37) == Verdict::kOutside);
}

TEST_CASE("saturation: what is known is no NaN", "[check][bounds]") {
  CHECK(Radius("  ROOT r = pred[] compare(sum, sum), direction=NE\n") == 0);
  CHECK(Radius("  m = f32[] subtract(lowest, sum)\n  ROOT r = pred[] compare(m, m), direction=NE\n") == 0);
  CHECK(Radius("  d = f32[] subtract(sum, sum)\n  l = f32[] log(d)\n"
               "  ROOT r = pred[] compare(l, l), direction=NE\n") == 1);
}

TEST_CASE("saturation: both signs of infinity are no number", "[check][bounds]") {
  // max * 10 may be inf, and inf - inf is NaN: nothing is known.
  const std::string difference =
      "  c = f32[] constant(3.4e37)\n  a = f32[] multiply(sum, c)\n  b = f32[] add(a, a)\n"
      "  d = f32[] subtract(b, b)\n";
  CHECK(!std::isfinite(Radius(difference + "  ROOT r = f32[] tanh(d)\n")));
  CHECK(!std::isfinite(Radius(difference + "  ROOT r = f32[] sign(d)\n")));
  CHECK(!std::isfinite(Radius(difference + "  ROOT r = s8[] convert(d)\n")));
}

TEST_CASE("saturation: far out functions are as good as constant", "[check][bounds]") {
  const std::string far = "  c = f32[] constant(1e6)\n  f = f32[] multiply(sum, c)\n";  // a radius of 40
  CHECK(Radius(far + "  ROOT r = f32[] tanh(f)\n") < 4 * kRoundoff);
  CHECK(Radius(far + "  ROOT r = f32[] logistic(f)\n") < 4 * kRoundoff);
  CHECK(Radius(far + "  ROOT r = f32[] exponential(f)\n") == 0);  // inf
  CHECK(Radius(far + "  n = f32[] negate(f)\n  ROOT r = f32[] logistic(n)\n") < 1e-40);
  CHECK(Radius(far + "  n = f32[] negate(f)\n  ROOT r = f32[] exponential(n)\n") < 1e-40);
  // 1 / (1 + e^f) = 0.
  CHECK(Radius(far + "  e = f32[] exponential(f)\n  o = f32[] constant(1)\n  p = f32[] add(o, e)\n"
                     "  ROOT r = f32[] divide(o, p)\n") < 1e-40);
  // Near the edge nothing saturates: e^89 is infinite, and with a radius of 1 need not be.
  CHECK(
      std::isinf(Radius("  c = f32[] constant(3e5)\n  b = f32[] multiply(sum, c)\n"
                        "  d = f32[] constant(2999911)\n  f = f32[] subtract(b, d)\n"
                        "  ROOT r = f32[] exponential(f)\n")));
}

TEST_CASE("saturation: the largest of a line is one of those that may be it", "[check][bounds]") {
  // 10 - 1e9 is known to 128; 10 to 50 u.
  const std::string line =
      "  c = f32[] constant(-1e9)\n  m = f32[] add(sum, c)\n  one_sum = f32[1] reshape(sum)\n"
      "  one_other = f32[1] reshape(m)\n  both = f32[2] concatenate(one_sum, one_other), dimensions={0}\n";
  CHECK(Radius(line + "  ROOT r = f32[] reduce(both, infinite), dimensions={0}, to_apply=most\n") ==
        Approx(50 * kRoundoff).epsilon(1e-3));
  // Two that are near: the farther radius.
  const std::string near =
      "  c = f32[] constant(1e4)\n  m = f32[] add(sum, c)\n  n = f32[] subtract(m, c)\n"
      "  one_sum = f32[1] reshape(sum)\n  one_other = f32[1] reshape(n)\n"
      "  both = f32[2] concatenate(one_sum, one_other), dimensions={0}\n";
  CHECK(Radius(near + "  ROOT r = f32[] reduce(both, infinite), dimensions={0}, to_apply=most\n") >
        1000 * kRoundoff);
}

TEST_CASE("saturation: through calls", "[check][bounds]") {
  const std::string callees =
      "difference { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT d = f32[] subtract(a, b) }\n"
      "power { p = f32[] parameter(0)\n  ROOT e = f32[] exponential(p) }\n";
  const std::string rest =
      "  m = f32[] call(lowest, sum), to_apply=difference\n"
      "  ROOT r = f32[] fusion(m), kind=kLoop, calls=power\n}";
  const Literal x = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}});
  CHECK(RadiiOf(callees + kTen + rest, {x})[0] < 1e-40);
}

TEST_CASE("saturation: a number of the narrower type stays exact", "[check][bounds]") {
  const std::string profile = "keeps_precision bf16\nflushes_subnormals f32 bf16\n";
  CHECK(Radius("  c = f32[] constant(-3.38953139e+38)\n  ROOT r = bf16[] convert(c)\n", profile) == 0);
  CHECK(Radius("  c = f32[] constant(1.01)\n  ROOT r = bf16[] convert(c)\n", profile) > 0);
}

// 10 and 11 are 1092616192 and 1093664768 as integers, -11 turned around -1093664769.
TEST_CASE("saturation: the order of floats' bits", "[check][bounds]") {
  const auto turned = [](const std::string& of, const std::string& with) {
    return Radius("  f = f32[] " + of +
                  "(sum)\n  p = s32[] bitcast-convert(f)\n  z = s32[] constant(0)\n"
                  "  mask = s32[] constant(2147483647)\n  t = s32[] xor(mask, p)\n"
                  "  n = pred[] compare(p, z), direction=LT\n  k = s32[] select(n, t, p)\n"
                  "  c = s32[] constant(" +
                  with + ")\n  ROOT r = pred[] compare(k, c), direction=LT\n");
  };
  CHECK(turned("abs", "1093664768") == 0);
  CHECK(turned("abs", "1092616192") == 1);
  CHECK(turned("negate", "-1093664769") == 0);
  CHECK(turned("negate", "-1092616193") == 1);
  for (const std::string op : {"bitcast-convert", "bitcast"}) {
    CHECK(std::isinf(Radius("  d = f32[] subtract(sum, sum)\n  ROOT p = s32[] " + op + "(d)\n")));
    CHECK(Radius("  ROOT p = s32[] " + op + "(sum)\n") > 5);  // 50 u and 2^-22 of 10 are 5.6 ulps
  }
}

// 256 + 1 + 1 + 1: 256 where each sum is rounded to bf16, as 257 is, and 259 where none is.
TEST_CASE("reducers that round to a narrower type each time, or not", "[check][bounds]") {
  const auto output = [](const std::string& op, std::vector<double> numbers) {
    const std::string text = "narrow { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  s = f32[] " + op +
                             "(a, b)\n  n = bf16[] convert(s)\n  ROOT w = f32[] convert(n) }\n"
                             "ENTRY e { x = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
                             "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=narrow }";
    return Bounded(text, {Literal::FromDoubles(ElementType::kF32, {{4}}, numbers)}).outputs[0];
  };
  const BoundedOutput sum = output("add", {256, 1, 1, 1});
  for (const double backend : {256.0, 258.0, 259.0, 260.0})
    CHECK(VerdictOf(sum, backend) == Verdict::kInside);
  CHECK(VerdictOf(sum, 280) == Verdict::kOutside);
  const BoundedOutput most = output("maximum", {1, 257, 3, 4});
  for (const double backend : {256.0, 257.0}) CHECK(VerdictOf(most, backend) == Verdict::kInside);
  CHECK(VerdictOf(most, 262) == Verdict::kOutside);
}

TEST_CASE("saturation: exact zeros stay exact", "[check][bounds]") {
  const std::string profile = "flushes_subnormals f32\nulps * * 2\n";
  CHECK(Radius("  ROOT p = f32[] multiply(sum, zero)\n", profile) == 0);
  CHECK(Radius("  p = f32[] multiply(sum, zero)\n  ROOT r = f32[] log(p)\n", profile) == 0);
  CHECK(Radius("  ROOT p = f32[] divide(zero, sum)\n", profile) == 0);
  CHECK(Radius("  one = f32[] constant(1)\n  ROOT p = f32[] subtract(one, one)\n", profile) == 0);
  // 10 - 10 is not exact, nor is a product with it.
  CHECK(Radius("  d = f32[] subtract(sum, sum)\n  ROOT r = f32[] multiply(d, d)\n", profile) > 0);
  // The sign of 0 (10 - 10) is open, so a division by it is.
  CHECK(
      !std::isfinite(Radius("  d = f32[] subtract(sum, sum)\n  z = f32[] multiply(zero, d)\n"
                            "  ROOT r = f32[] divide(sum, z)\n",
                            profile)));
  // e^-inf.
  CHECK(Radius("  m = f32[] subtract(infinite, sum)\n  ROOT r = f32[] exponential(m)\n", profile) == 0);
}

// The oracle walks through what the operand can be, in steps of a hundredth of its radius.
TEST_CASE("reachable: steps have what their operand's interval reaches, and no more", "[check][bounds]") {
  const std::string steps[] = {"round-nearest-even", "round-nearest-afz", "floor", "ceil"};
  const double scales[] = {1e4, 2.5e5, 1e6};  // radii of 0.04, 1 and 4
  int sharp = 0;
  for (const double scale : scales) {
    for (const double offset : {119.5, 120.0, 126.9, 3.25}) {
      const std::string operand = "  c = f32[] constant(" + std::to_string(scale) +
                                  ")\n  m = f32[] multiply(sum, c)\n  o = f32[] constant(" +
                                  std::to_string(10 * scale + offset) +
                                  ")\n  d = f32[] subtract(m, o)\n  low = f32[] constant(-128)\n"
                                  "  high = f32[] constant(127)\n";
      const BoundedOutput before = Of(operand + "  ROOT r = f32[] copy(d)\n");
      const double x = before.exact.GetDouble(0), r = before.radius->GetDouble(0);
      for (const std::string& step : steps) {
        const BoundedOutput after = Of(operand + "  k = f32[] clamp(low, d, high)\n  t = f32[] " + step +
                                       "(k)\n  ROOT q = s8[] convert(t)\n");
        std::set<double> reached;
        for (int i = -100; i <= 100; ++i) {
          const double at = std::min(std::max(x + r * i / 100, -128.0), 127.0);
          reached.insert(step == "floor"               ? std::floor(at)
                         : step == "ceil"              ? std::ceil(at)
                         : step == "round-nearest-afz" ? std::round(at)
                                                       : std::nearbyint(at));
        }
        for (int q = -128; q <= 127; ++q) {
          INFO(scale << " " << offset << " " << step << " " << q << " of " << x << " +- " << r);
          const bool is_reached = q >= *reached.begin() && q <= *reached.rbegin();
          CHECK((VerdictOf(after, q) == Verdict::kInside) == is_reached);
        }
        const double exact = static_cast<double>(after.exact.GetInt(0));
        sharp += *reached.rbegin() - exact != exact - *reached.begin();
      }
    }
  }
  CHECK(sharp > 5);  // some reach farther to one side
}

}  // namespace assay::testing
