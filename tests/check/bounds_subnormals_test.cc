// Radii of complex numbers of which a part is subnormal, by profiles that may take it for zero.
#include <cmath>
#include <complex>

#include "literal/element_io.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

constexpr char kFlushes[] = "flushes_subnormals f32\n";

double RadiusOf(const std::string& function, std::complex<double> z, const std::string& profile) {
  Literal argument = *Literal::Make(Shape::ArrayOrDie(ElementType::kC64, {}));
  StoreElement(ElementType::kC64, {.kind = ComputeKind::kComplex, .c = z}, argument.MutableBytes().data());
  return RadiiOf("ENTRY e { z = c64[] parameter(0)\n  ROOT r = " + function + "(z) }", {argument},
                 profile)[0];
}

}  // namespace

// imag returns the part itself; its radius is that of the number, the sum over the parts.
TEST_CASE("bounds: subnormal parts of complex numbers may be zero", "[check][bounds]") {
  CHECK(RadiusOf("f32[] imag", {2, 1e-40}, kFlushes) == Approx(1e-40).epsilon(1e-3));
  CHECK(RadiusOf("f32[] imag", {2e-40, -1e-40}, kFlushes) == Approx(3e-40).epsilon(1e-3));
  CHECK(RadiusOf("f32[] imag", {2, 1e-40}, "") == 0);
  CHECK(std::isinf(RadiusOf("f32[] imag", {HUGE_VAL, 1e-40}, kFlushes)));
  CHECK(RadiusOf("f32[] imag", {2, 0}, kFlushes) == 0);
  CHECK(RadiiOf("ENTRY e { z = c64[] constant((2, 1e-40))\n  ROOT r = f32[] imag(z) }", {}, kFlushes)[0] ==
        Approx(1e-40).epsilon(1e-3));
}

// Beside a number with a subnormal part the others are exact: cos(inf) is NaN for certain.
TEST_CASE("bounds: a subnormal part leaves other elements as they are", "[check][bounds]") {
  for (const std::string function : {"cosine", "exponential-minus-one", "sinh"}) {
    const std::vector<double> radii =
        RadiiOf("ENTRY e { z = c64[3] constant({(inf, inf), (1, 1e-40), (1, 2)})\n  ROOT r = c64[3] " +
                    function + "(z) }",
                {}, kFlushes);
    const std::vector<double> alone = RadiiOf(
        "ENTRY e { z = c64[1] constant({(1, 2)})\n  ROOT r = c64[1] " + function + "(z) }", {}, kFlushes);
    CHECK(std::isfinite(radii[1]));
    CHECK(radii[2] == Approx(alone[0]).epsilon(1e-3));
  }
  CHECK(RadiiOf("ENTRY e { z = c64[2] constant({(inf, 0), (1, 1e-40)})\n  ROOT r = c64[2] cosine(z) }", {},
                kFlushes)[0] == 0);
}

// log(-0.2 + 0 i) has the imaginary part pi, or -pi if the zero's sign is lost.
TEST_CASE("bounds: a subnormal part at a branch cut is undecided", "[check][bounds]") {
  CHECK(std::isinf(RadiusOf("c64[] log-plus-one", {-1.2, 1e-40}, kFlushes)));
  CHECK(std::isfinite(RadiusOf("c64[] log-plus-one", {-1.2, 1e-40}, "")));
  CHECK(std::isfinite(RadiusOf("c64[] log-plus-one", {0.5, 1e-40}, kFlushes)));
}

}  // namespace assay::testing
