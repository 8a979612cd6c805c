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
  CHECK(RadiusOf("f32[] imag", {2, 0}, kFlushes) == 0);
  CHECK(RadiiOf("ENTRY e { z = c64[] constant((2, 1e-40))\n  ROOT r = f32[] imag(z) }", {}, kFlushes)[0] ==
        Approx(1e-40).epsilon(1e-3));
}

// log(-0.2 + 0 i) has the imaginary part pi, or -pi if the zero's sign is lost.
TEST_CASE("bounds: a subnormal part at a branch cut is undecided", "[check][bounds]") {
  CHECK(std::isinf(RadiusOf("c64[] log-plus-one", {-1.2, 1e-40}, kFlushes)));
  CHECK(std::isfinite(RadiusOf("c64[] log-plus-one", {-1.2, 1e-40}, "")));
  CHECK(std::isfinite(RadiusOf("c64[] log-plus-one", {0.5, 1e-40}, kFlushes)));
}

}  // namespace assay::testing
