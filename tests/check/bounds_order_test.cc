// Radii of what an order decides, of ops that step, and of complex functions, worked out by hand.
#include <cmath>
#include <complex>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

const double kUnit = std::ldexp(1, -24);

// Two numbers, each the sum of a row: (x0, x1) and radii of 2 u |x|, for a start value of zero and rows that
// have one element that is not.
constexpr char kRows[] = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT }
larger { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT
  n = pred[] compare(a, a), direction=NE
  p = pred[] or(g, n)
  x = f32[] select(p, a, b)
  e = pred[] compare(a, b), direction=EQ
  f = pred[] compare(i, j), direction=LT
  t = pred[] and(e, f)
  q = pred[] or(p, t)
  y = s32[] select(q, i, j)
  ROOT r = (f32[], s32[]) tuple(x, y) }
order { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = f32[] parameter(2)
  j = f32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT }
expanded { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  zero = s32[] constant(0)
  mask = s32[] constant(2147483647)
  p = s32[] bitcast(a)
  q = s32[] bitcast(b)
  n = pred[] compare(p, zero), direction=LT
  m = pred[] compare(q, zero), direction=LT
  u = s32[] xor(mask, p)
  v = s32[] xor(mask, q)
  k = s32[] select(n, u, p)
  l = s32[] select(m, v, q)
  f = pred[] compare(k, l), direction=LT
  e = pred[] compare(k, l), direction=EQ
  t = pred[] compare(i, j), direction=LT
  g = pred[] and(e, t)
  ROOT r = pred[] or(f, g) }
ENTRY e { x = f32[3,1] parameter(0)
  zero = f32[] constant(0)
  sum = f32[3] reduce(x, zero), dimensions={1}, to_apply=add
  i = s32[3] iota(), iota_dimension=0
)";

Literal ColumnOf(double a, double b, double c) {
  return Literal::FromDoubles(ElementType::kF32, {{3, 1}}, {{a, b, c}});
}

std::vector<double> Radii(const std::string& rest, const Literal& column) {
  return RadiiOf(kRows + rest + "}", {column});
}

// The third is so near the second that either may be the larger.
const double kNext = 2 * (1 + 2 * kUnit);

}  // namespace

TEST_CASE("bounds: what is sorted along is decided where the keys are apart", "[check]") {
  const std::string sorted =
      "  s = (f32[3], s32[3]) sort(sum, i), dimensions={0}, to_apply=less\n"
      "  ROOT r = s32[3] get-tuple-element(s), index=1\n";
  const std::vector<double> apart = Radii(sorted, ColumnOf(3, 1, 2));
  CHECK(apart == std::vector<double>{0, 0, 0});
  const std::vector<double> near = Radii(sorted, ColumnOf(2, 1, kNext));
  CHECK(near[0] == 0);
  CHECK(std::isinf(near[1]));
  CHECK(std::isinf(near[2]));
}

TEST_CASE("bounds: radii go along with exact keys, and with keys that are apart", "[check]") {
  const std::vector<double> keys = Radii(
      "  s = (f32[3], s32[3]) sort(sum, i), dimensions={0}, to_apply=less\n"
      "  ROOT r = f32[3] get-tuple-element(s), index=0\n",
      ColumnOf(4, 1, 2));
  CHECK(keys[0] == Approx(keys[2] / 4).epsilon(1e-3));
  const std::vector<double> along = Radii(
      "  t = s32[3] reverse(i), dimensions={0}\n  c = f32[3] convert(t)\n"
      "  s = (f32[3], f32[3]) sort(c, sum), dimensions={0}, to_apply=order\n"
      "  ROOT r = f32[3] get-tuple-element(s), index=1\n",
      ColumnOf(4, 1, 2));
  CHECK(along[0] == Approx(along[2] / 2).epsilon(1e-3));
}

TEST_CASE("bounds: topk's indices are decided where values are apart, the first one left out included",
          "[check]") {
  const std::string top =
      "  t = (f32[2], s32[2]) topk(sum), k=2, largest=true\n  ROOT r = s32[2] get-tuple-element(t), "
      "index=1\n";
  CHECK(Radii(top, ColumnOf(3, 1, 2)) == std::vector<double>{0, 0});
  const std::vector<double> near = Radii(top, ColumnOf(3, 2, kNext));
  CHECK(near[0] == 0);
  CHECK(std::isinf(near[1]));
}

TEST_CASE("bounds: sort by a total order of bits, and then by another key", "[check][bounds]") {
  const std::string sorted =
      "  s = (f32[3], s32[3]) sort(sum, i), dimensions={0}, to_apply=expanded\n"
      "  ROOT r = s32[3] get-tuple-element(s), index=1\n";
  CHECK(Radii(sorted, ColumnOf(3, -1, 2)) == std::vector<double>{0, 0, 0});
  const std::vector<double> near = Radii(sorted, ColumnOf(2, -1, kNext));
  CHECK(near[0] == 0);
  CHECK(std::isinf(near[1]));
  // Two equal keys of exact values: the other decides.
  const std::string equal =
      "  z = f32[3] constant({1, 2, 1})\n  c = f32[3] multiply(sum, z)\n"
      "  o = f32[3] subtract(c, c)\n  w = f32[3] multiply(o, o)\n"
      "  s = (f32[3], s32[3]) sort(z, i), dimensions={0}, to_apply=expanded\n"
      "  ROOT r = s32[3] get-tuple-element(s), index=1\n";
  CHECK(Radii(equal, ColumnOf(3, 1, 2)) == std::vector<double>{0, 0, 0});
}

// A NaN that is computed may have either sign, and so be the first or the last of its line; one of an input
// has the sign that it has.
TEST_CASE("bounds: a computed NaN leaves a line's total order open", "[check][bounds]") {
  const auto radii = [](const std::string& key) {
    return RadiiOf(R"(total { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e { x = f32[2,3] parameter(0)
  )" + key + R"(
  ROOT s = f32[2,3] sort(y), dimensions={1}, to_apply=total })",
                   {FloatMatrix(2, 3, {1, -2, 5, 1, 2, 5})}, "ulps log * 2\n");
  };
  const std::vector<double> of_log = radii("y = f32[2,3] log(x)");
  for (size_t i = 0; i < 3; ++i) {
    CHECK(std::isinf(of_log[i]));
    CHECK(std::isfinite(of_log[3 + i]));
  }
  for (const double radius : radii("y = f32[2,3] negate(x)")) CHECK(radius == 0);
}

TEST_CASE("bounds: the custom call TopK has topk's", "[check][bounds]") {
  const std::string top =
      "  t = (f32[2], s32[2]) custom-call(sum), custom_call_target=\"TopK\", called_computations={less}\n"
      "  ROOT r = s32[2] get-tuple-element(t), index=1\n";
  CHECK(Radii(top, ColumnOf(3, 1, 2)) == std::vector<double>{0, 0});
  const std::vector<double> near = Radii(top, ColumnOf(3, 2, kNext));
  CHECK(near[0] == 0);
  CHECK(std::isinf(near[1]));
}

TEST_CASE("bounds: the place of the largest is decided where it is alone", "[check]") {
  const std::string most =
      "  z = s32[] constant(0)\n  l = f32[] constant(-inf)\n"
      "  a = (f32[], s32[]) reduce(sum, i, l, z), dimensions={0}, to_apply=larger\n"
      "  ROOT r = s32[] get-tuple-element(a), index=1\n";
  CHECK(Radii(most, ColumnOf(3, 1, 2)) == std::vector<double>{0});
  CHECK(std::isinf(Radii(most, ColumnOf(1, 2, kNext))[0]));
  CHECK(Radii(most, ColumnOf(3, 2, kNext)) == std::vector<double>{0});
}

TEST_CASE("bounds: numbers of fewer bits are decided off the steps", "[check]") {
  const std::string reduced = "  ROOT r = f32[3] reduce-precision(sum), exponent_bits=8, mantissa_bits=2\n";
  // Between 1 and 1.25 lies 1.125.
  const std::vector<double> radii = Radii(reduced, ColumnOf(1.1, 1.125, 1.2));
  CHECK(radii[0] == 0);
  CHECK(radii[1] == Approx(0.25).epsilon(1e-3));
  CHECK(radii[2] == 0);
}

TEST_CASE("bounds: functions of complex numbers", "[check]") {
  const auto radius = [&](const std::string& function, double x) {
    return Radii(
        "  i1 = f32[] constant(1)\n  one = f32[3] broadcast(i1), dimensions={}\n"
        "  z = c64[3] complex(sum, one)\n  ROOT r = c64[3] " +
            function + "(z)\n",
        ColumnOf(x, x, x))[0];
  };
  const double r = 4 * 2 * kUnit * 0.5;  // of 2: g = 2 u of 2, and half an ulp twice
  const std::complex<double> z(2, 1);
  const auto near = [&](double found, double slope, double result) {
    CHECK(found > slope * r);
    CHECK(found < 3 * slope * r + 20 * result * kUnit);
  };
  near(radius("log", 2), 1 / std::abs(z), std::abs(std::log(z)));
  near(radius("sqrt", 2), 0.5 / std::sqrt(std::abs(z)), std::abs(std::sqrt(z)));
  near(radius("sine", 2), std::abs(std::cos(z)), std::abs(std::sin(z)));
  near(radius("tanh", 2), std::abs(1.0 / (std::cosh(z) * std::cosh(z))), 4);
  near(radius("exponential-minus-one", 2), std::abs(std::exp(z)), 8);
}

}  // namespace assay::testing
