// Radii of sums of squared deviations, worked out by hand.
#include <cmath>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

// The variance of (1, 2, 3, 4) times 4. The sum has a radius of 50 units of roundoff (bounds_testing.h).
std::vector<double> RadiiOfSquares(const std::string& center, const std::string& start = "zero") {
  return RadiiOf(R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  n = f32[] constant(4)
  mean = f32[] divide(sum, n)
)" + center + R"(
  m = f32[4] broadcast(center), dimensions={}
  d = f32[4] subtract(x, m)
  q = f32[4] multiply(d, d)
  ROOT r = f32[] reduce(q, )" +
                     start + "), dimensions={0}, to_apply=add }",
                 {Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}})});
}

}  // namespace

// d = (-3, -1, 1, 3) / 2, whose sum is 0: the mean's radius does not count. In units of roundoff: |d_i| and
// two roundings of the mean's division, 5, for each deviation; 6 for two subtractions, a product and three
// additions, and Assay's product, of sum d^2 = 5; a last rounding and Assay's.
TEST_CASE("bounds: what the mean is off by does not move the variance", "[bounds]") {
  const double moved = 2 * (5 + 5 * 4);
  CHECK(RadiiOfSquares("  center = f32[] copy(mean)\n")[0] ==
        Approx((moved + 6 * 5 + 5 + 2 * 5) * kHalfUlpOfOne).epsilon(1e-4));
  // By rules of single instructions, which another start value leaves: the mean is off by (50 / 4 + 5) u, d
  // by that and 2 |d| u, d^2 by 2 |d| times that and 2 d^2 u, and there are five additions.
  const double each = 2 * 4 * (50.0 / 4 + 5) + 2 * 2 * 5 + 2 * 5 + 5 * 5 + 2 * 5;
  CHECK(RadiiOfSquares("  center = f32[] copy(mean)\n", "one")[0] ==
        Approx((each + 5 + 2) * kHalfUlpOfOne).epsilon(1e-4));
}

// Away from the mean, at 10 / 5 = 2, sum d = 2: 2 r_m |sum d|, r_m = (50 / 5 + 2 * 2) u, more. sum |d| = 4,
// and sum d^2 = 6.
TEST_CASE("bounds: what is near the mean moves the sum by as much as it is away", "[bounds]") {
  const double moved = 2 * (6 + 4 * 4) + 2 * 14 * 2;
  CHECK(RadiiOfSquares("  five = f32[] constant(5)\n  center = f32[] divide(sum, five)\n")[0] ==
        Approx((moved + 6 * 6 + 6 + 2 * 6) * kHalfUlpOfOne).epsilon(1e-4));
  // What a backend may compute anew for each deviation, with more roundings: 2 * 4 * (14 + 2 * 2) of m, ...
  const double each = 2 * 4 * (14 + 2 * 2) + 2 * 2 * 6 + 2 * 6 + 3 * 6 + 2 * 6;
  CHECK(RadiiOfSquares("  five = f32[] constant(5)\n  two = f32[] divide(sum, five)\n"
                       "  center = f32[] multiply(two, one)\n")[0] ==
        Approx(each * kHalfUlpOfOne).epsilon(1e-4));
}

}  // namespace assay::testing
