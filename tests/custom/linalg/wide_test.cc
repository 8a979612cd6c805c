// Wide numbers against MPFR's.
#include "custom/linalg/wide.h"

#include <mpfr.h>

#include <catch2/catch.hpp>
#include <random>

namespace assay::testing {
namespace {

using linalg::Wide;

// Of more digits than any number here has.
struct LongReal {
  mpfr_t value;
  LongReal() { mpfr_init2(value, 4000); }
  ~LongReal() { mpfr_clear(value); }
  LongReal(const LongReal&) = delete;
  LongReal& operator=(const LongReal&) = delete;
};

// The exact value: doubles that are taken away one after the other.
template <int N>
void ToMpfr(Wide<N, false> x, LongReal& target) {
  mpfr_set_zero(target.value, 1);
  while (!x.is_zero()) {
    const double part = x.RoundToDouble();
    mpfr_add_d(target.value, target.value, part, MPFR_RNDN);
    x -= Wide<N, false>(part);
  }
}

template <int N>
class Drawn {
 public:
  using W = Wide<N, false>;
  // A few doubles at some distance of each other.
  W Draw() {
    W x(Double(static_cast<int>(generator_() % 40) - 80));
    const int parts = static_cast<int>(generator_() % (2 * N));
    for (int i = 0; i < parts; ++i) x += W(Double(-64 * i - 63 - static_cast<int>(generator_() % 64)));
    return x;
  }
  // Near x, so that digits cancel.
  W Near(const W& x) {
    return x + x * W(std::ldexp(static_cast<double>(generator_() % 1000) - 500,
                                -static_cast<int>(generator_() % (60 * N))));
  }
  bool Coin() { return generator_() % 2 == 0; }

 private:
  double Double(int exponent) {
    return std::ldexp(static_cast<double>(static_cast<int64_t>(generator_())), exponent);
  }
  std::mt19937_64 generator_{N};
};

// |found - wanted| in units of the last digit of wanted.
template <int N>
double ErrorIn(const Wide<N, false>& found, LongReal& wanted) {
  LongReal value;
  ToMpfr(found, value);
  mpfr_sub(value.value, value.value, wanted.value, MPFR_RNDN);
  if (mpfr_zero_p(value.value)) return 0;
  mpfr_div(value.value, value.value, wanted.value, MPFR_RNDN);
  mpfr_mul_2si(value.value, value.value, 64 * N, MPFR_RNDN);
  return std::abs(mpfr_get_d(value.value, MPFR_RNDN));
}

template <int N>
void CheckArithmetic() {
  Drawn<N> drawn;
  LongReal a, b, exact;
  for (int i = 0; i < 2000; ++i) {
    const Wide<N, false> x = drawn.Draw(), y = drawn.Coin() ? drawn.Draw() : drawn.Near(x);
    if (x.is_zero() || y.is_zero()) continue;
    ToMpfr(x, a);
    ToMpfr(y, b);
    mpfr_add(exact.value, a.value, b.value, MPFR_RNDN);
    REQUIRE(ErrorIn(x + y, exact) <= 2);
    mpfr_sub(exact.value, a.value, b.value, MPFR_RNDN);
    REQUIRE(ErrorIn(x - y, exact) <= 2);
    mpfr_mul(exact.value, a.value, b.value, MPFR_RNDN);
    REQUIRE(ErrorIn(x * y, exact) <= 2);
    mpfr_div(exact.value, a.value, b.value, MPFR_RNDN);
    REQUIRE(ErrorIn(x / y, exact) <= 5);
    REQUIRE((x < y) == (mpfr_less_p(a.value, b.value) != 0));
    mpfr_abs(exact.value, a.value, MPFR_RNDN);
    mpfr_sqrt(exact.value, exact.value, MPFR_RNDN);
    REQUIRE(ErrorIn(Sqrt(Abs(x)), exact) <= 5);
  }
}

template <int N>
void CheckRounding() {
  Drawn<N> drawn;
  LongReal exact;
  for (int i = 0; i < 4000; ++i) {
    // Numbers of 40 digits more than the format are no ties.
    const Wide<N, false> drawn_x = drawn.Draw();
    const Wide<N, false> x = drawn_x + drawn_x * Wide<N, false>(0x1.8p-80);
    ToMpfr(x, exact);
    REQUIRE(x.RoundToDouble() == mpfr_get_d(exact.value, MPFR_RNDN));
    REQUIRE(x.RoundToFloat() == mpfr_get_flt(exact.value, MPFR_RNDN));
    const int down = i % 100;
    mpfr_mul_2si(exact.value, exact.value, -1000 - down, MPFR_RNDN);
    REQUIRE(x.Times2To(-1000 - down).RoundToDouble() == mpfr_get_d(exact.value, MPFR_RNDN));
    mpfr_mul_2si(exact.value, exact.value, 900, MPFR_RNDN);
    REQUIRE(x.Times2To(-100 - down).RoundToFloat() == mpfr_get_flt(exact.value, MPFR_RNDN));
  }
}

}  // namespace

TEST_CASE("wide numbers: sums, products, quotients and roots are off by units of the last digit",
          "[linalg]") {
  CheckArithmetic<2>();
  CheckArithmetic<3>();
  CheckArithmetic<6>();
  CheckArithmetic<12>();
}

TEST_CASE("wide numbers: they are rounded to nearest, subnormal numbers too", "[linalg]") {
  CheckRounding<2>();
  CheckRounding<3>();
  CheckRounding<12>();
}

TEST_CASE("wide numbers: ties go to even, and so does what is next to one", "[linalg]") {
  const Wide<2> one(1.0), half_unit(0x1p-53), noise(0x1p-120);
  CHECK((one + half_unit).RoundToDouble() == 1);
  CHECK((one + half_unit + noise).RoundToDouble() == 1);
  CHECK((one + half_unit - noise).RoundToDouble() == 1);
  CHECK((one + half_unit + Wide<2>(0x1p-90)).RoundToDouble() == 1 + 0x1p-52);
  CHECK((one + Wide<2>(0x1.8p-52)).RoundToDouble() == 1 + 0x1p-51);
  CHECK((one + Wide<2>(0x1p-24)).RoundToFloat() == 1);
  CHECK((one + Wide<2>(0x1.8p-23)).RoundToFloat() == 1 + 0x1p-22f);
  CHECK((-one - half_unit).RoundToDouble() == -1);
  CHECK(Wide<2>(0x1p-1074).Times2To(-1).RoundToDouble() == 0);
  CHECK(Wide<2>(0x1.8p-1073).Times2To(-1).RoundToDouble() == 0x1p-1073);
  CHECK(Wide<2>(1.7976931348623157e308).Times2To(1).RoundToDouble() ==
        std::numeric_limits<double>::infinity());
  CHECK((-Wide<2>(0x1.ffffffp127)).RoundToFloat() == -std::numeric_limits<float>::infinity());
  CHECK(Wide<2>(0x1.fffffe8p127).RoundToFloat() == 0x1.fffffep127f);
}

TEST_CASE("wide numbers: a sum of which three quarters of the digits cancel is 0", "[linalg]") {
  const Wide<2> one(1.0);
  CHECK((one + Wide<2>(0x1p-97) - one).is_zero());
  CHECK(!(one + Wide<2>(0x1p-94) - one).is_zero());
  CHECK((Wide<2>(1.0) / Wide<2>(3.0) * Wide<2>(3.0) - one).is_zero());
  const Wide<2, false> all_digits(1.0);
  CHECK(!(all_digits + Wide<2, false>(0x1p-120) - all_digits).is_zero());
}

}  // namespace assay::testing
