// Radii where a dot arrives at an instruction by several ways, worked out by hand and by trying what the dot
// can be.
#include <cmath>
#include <functional>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

// (1, 2, 3, 4) . (1, 1, 1, b) / 2, whose magnitudes sum up to 3 + 2 |b|.
std::vector<double> RadiiBehindDot(double b, const std::string& rest, const std::string& profile) {
  const std::string text = R"(ENTRY e { a = f32[1,4] parameter(0)
  b = f32[4,1] parameter(1)
  x = f32[1,1] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[] constant(1)
  one = f32[1,1] broadcast(c), dimensions={}
)" + rest + "}";
  const BoundedOutputs bounded =
      Bounded(text, {FloatMatrix(1, 4, {1, 2, 3, 4}), FloatMatrix(4, 1, {0.5, 0.5, 0.5, b / 2})}, profile);
  std::vector<double> radii;
  for (const BoundedOutput& output : bounded.outputs)
    radii.push_back(output.radius.has_value() ? output.radius->GetDouble(0) : 0);
  return radii;
}

// x = 3/4 with a radius of 4 * 5.25 u, for the sum of magnitudes, and an ulp of 3/4.
constexpr double kThreeQuarters = -1.125;
const double kRadiusOfDot = (4 * 5.25 + 2 * 0.75) * kHalfUlpOfOne;
constexpr char kProduct[] = R"(  rest = f32[1,1] subtract(one, x)
  ROOT y = f32[1,1] multiply(x, rest)
)";

}  // namespace

// x (1 - x) moves by (1 - 2 x) d; 1 - x = 1/4 is rounded twice, and multiplied with x, and so is the product.
TEST_CASE("bounds: ways meet with the signs of their slopes", "[bounds]") {
  const double rounding = 0.75 * 2 * 0.25 * kHalfUlpOfOne + 2 * 0.1875 * kHalfUlpOfOne;
  CHECK(RadiiBehindDot(kThreeQuarters, kProduct, "stores_dots yes")[0] ==
        Approx(0.5 * kRadiusOfDot + rounding).epsilon(1e-4));
  // At 1/2 they cancel, and a second rounding of 1 - x remains: it may differ from one reader to the next.
  CHECK(RadiiBehindDot(-1.25, kProduct, "stores_dots yes")[0] ==
        Approx(0.5 * 2 * 0.5 * kHalfUlpOfOne + 2 * 0.25 * kHalfUlpOfOne).epsilon(1e-3));
  // Where a dot may be computed anew for each reader: (|1 - x| + |x|) r.
  CHECK(RadiiBehindDot(kThreeQuarters, kProduct, "stores_dots no")[0] ==
        Approx(kRadiusOfDot + rounding).epsilon(1e-4));
}

TEST_CASE("bounds: what is computed anew does not cancel", "[bounds]") {
  // s = x + 1 has a rounding of its own for each reader: x - s moves by that alone, (x + 1) - s by two.
  CHECK(RadiiBehindDot(kThreeQuarters, R"(  s = f32[1,1] add(x, one)
  ROOT y = f32[1,1] subtract(x, s)
)",
                       "stores_dots yes")[0] ==
        Approx(2 * 1.75 * kHalfUlpOfOne + 2 * kHalfUlpOfOne).epsilon(1e-4));
  CHECK(RadiiBehindDot(kThreeQuarters, R"(  s = f32[1,1] add(x, one)
  t = f32[1,1] add(one, x)
  ROOT y = f32[1,1] subtract(s, t)
)",
                       "stores_dots yes")[0] == Approx(2 * 2 * 1.75 * kHalfUlpOfOne).epsilon(1e-4));
}

// Operands of few bits make the dot's radius large, so that terms of second order count. Whatever the dot is,
// what follows from it is inside; and the form says more than radii do.
TEST_CASE("bounds: forms hold what a dot's distance makes of functions", "[bounds]") {
  struct Case {
    std::string text;
    std::function<double(double)> f;
  };
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<Case> cases = {
      {"  t = f32[1,1] tanh(x)\n  ROOT y = f32[1,1] subtract(x, t)",
       [](double x) { return x - std::tanh(x); }},
      {"  t = f32[1,1] logistic(x)\n  n = f32[1,1] negate(t)\n  p = f32[1,1] multiply(x, n)\n"
       "  ROOT y = f32[1,1] add(x, p)",
       [&](double x) { return x - x * logistic(x); }},
      {"  t = f32[1,1] erf(x)\n  ROOT y = f32[1,1] subtract(t, x)", [](double x) { return std::erf(x) - x; }},
      {"  s = f32[1,1] sine(x)\n  t = f32[1,1] cosine(x)\n  ROOT y = f32[1,1] multiply(s, t)",
       [](double x) { return std::sin(x) * std::cos(x); }},
      {"  t = f32[1,1] exponential(x)\n  ROOT y = f32[1,1] subtract(t, x)",
       [](double x) { return std::exp(x) - x; }},
      {"  t = f32[1,1] log(x)\n  ROOT y = f32[1,1] subtract(x, t)", [](double x) { return x - std::log(x); }},
      {"  t = f32[1,1] rsqrt(x)\n  ROOT y = f32[1,1] multiply(x, t)", [](double x) { return std::sqrt(x); }},
      {"  t = f32[1,1] sqrt(x)\n  ROOT y = f32[1,1] subtract(x, t)",
       [](double x) { return x - std::sqrt(x); }},
      {"  t = f32[1,1] add(x, one)\n  ROOT y = f32[1,1] divide(x, t)", [](double x) { return x / (1 + x); }},
      {"  t = f32[1,1] multiply(x, x)\n  s = f32[1,1] multiply(x, t)\n  ROOT y = f32[1,1] subtract(s, x)",
       [](double x) { return x * x * x - x; }},
  };
  for (const std::string bits : {"7", "9", "11"}) {
    const std::string profile = "dot_input_bits f32 " + bits + "\nstores_dots ";
    const double r = RadiiBehindDot(kThreeQuarters, "  ROOT y = f32[1,1] negate(x)\n", profile + "yes")[0];
    REQUIRE(r > 0.001);
    for (const Case& one : cases) {
      INFO(bits << " bits, radius " << r << ": " << one.text);
      const double radius = RadiiBehindDot(kThreeQuarters, one.text + "\n", profile + "yes")[0];
      CHECK(radius < RadiiBehindDot(kThreeQuarters, one.text + "\n", profile + "no")[0]);
      double farthest = 0;
      for (int k = -100; k <= 100; ++k)
        farthest = std::max(farthest, std::fabs(one.f(0.75 + r * k / 100) - one.f(0.75)));
      CHECK(radius >= farthest);
    }
  }
}

TEST_CASE("bounds: a side of a choice has its form", "[bounds]") {
  const auto radius = [](const std::string& predicate) {
    return RadiiBehindDot(kThreeQuarters, "  c0 = pred[] constant(" + predicate + R"()
  p = pred[1,1] broadcast(c0), dimensions={}
  n = f32[1,1] negate(x)
  s = f32[1,1] select(p, n, x)
  ROOT y = f32[1,1] add(x, s)
)",
                          "stores_dots yes")[0];
  };
  CHECK(radius("true") < 1e-11);  // 0
  CHECK(radius("false") == Approx(2 * kRadiusOfDot + 2 * 1.5 * kHalfUlpOfOne).epsilon(1e-4));
}

}  // namespace assay::testing
