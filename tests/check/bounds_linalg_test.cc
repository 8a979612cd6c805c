// Radii of solvers and factors, worked out by hand on matrices of one and two rows, where every factor of the
// formulas (evaluator/bounds/linalg.cc) can be seen. In comments u is half the ulp of 1.
#include <cmath>
#include <limits>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

std::string Solve(const std::string& a, const std::string& b, const std::string& attributes) {
  return "ENTRY e { a = " + a + " parameter(0)\n  b = " + b + " parameter(1)\n  ROOT x = " + b +
         " triangular-solve(a, b), " + attributes + " }";
}

}  // namespace

// n = 1: g = (1 + kHalfUlpOfOne)^2 (1 + kHalfUlpOfOne)^2 - 1 = 4 u, h = 2.01 u, Q = 1/2. Of 2 x = 6: y = 3
// and r = Q (h 2 3 + 3 g 2 3) = 42.03 u.
TEST_CASE("bounds: triangular-solve of one unknown", "[check][bounds]") {
  const std::string all = "left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE";
  CHECK(RadiiOf(Solve("f32[1,1]", "f32[1,1]", all), {FloatMatrix(1, 1, {2}), FloatMatrix(1, 1, {6})})[0] ==
        Approx(42.03 * kHalfUlpOfOne).epsilon(1e-3));
  // b = 10: y = 5, r = (50 u + h 10 + 3 g 10) / 2.
  CHECK(RadiusBehindTen("  b = f32[1,1] reshape(ten)\n  two = f32[1,1] constant({{2}})\n"
                        "  ROOT y = f32[1,1] triangular-solve(two, b), " +
                        all + "\n") ==
        Approx(0.5 * (kRadiusBehindTen + 20.1 * kHalfUlpOfOne + 120 * kHalfUlpOfOne)).epsilon(1e-3));
  // a = 10, b = 1: Q = 1/10 (within 1e-4), y = x = 1/10, R = 50 u.
  CHECK(RadiusBehindTen("  a = f32[1,1] reshape(ten)\n  one = f32[1,1] constant({{1}})\n"
                        "  ROOT y = f32[1,1] triangular-solve(a, one), " +
                        all + "\n") ==
        Approx(0.1 * (5 * kHalfUlpOfOne + 2.01 * kHalfUlpOfOne + 12 * kHalfUlpOfOne)).epsilon(1e-3));
  // 10 - 10 may be zero.
  CHECK(RadiusBehindTen("  c = f32[] constant(10)\n  d = f32[] subtract(ten, c)\n  a = f32[1,1] reshape(d)\n"
                        "  one = f32[1,1] constant({{1}})\n  ROOT y = f32[1,1] triangular-solve(a, one), " +
                        all + "\n") == std::numeric_limits<double>::infinity());
}

// T = (1 0; 1 1), T^-1 = (1 0; -1 1): Q = (1 0; 1 1). n = 2: g = 5 u. Of b = (2, 3): x = (2, 1), y = Q b =
// (2, 5), rest = h T x + 15 u T y = (h 2 + 30 u, h 3 + 105 u), r = Q rest. Every form of the same system has
// these radii.
TEST_CASE("bounds: triangular-solve from both sides, transposed and not", "[check][bounds]") {
  const double first = 2 * 2.01 * kHalfUlpOfOne + 30 * kHalfUlpOfOne,
               second = first + 3 * 2.01 * kHalfUlpOfOne + 105 * kHalfUlpOfOne;
  struct Form {
    std::string attributes;
    std::vector<double> a;
    bool left;
  };
  const std::vector<double> lower = {1, 7, 1, 1}, upper = {1, 1, 7, 1};  // 7 is not read
  const std::vector<double> unit_lower = {8, 7, 1, 9}, unit_upper = {8, 1, 7, 9};
  for (const Form& form : std::vector<Form>{
           {"left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE", lower, true},
           {"left_side=true, lower=false, unit_diagonal=false, transpose_a=TRANSPOSE", upper, true},
           {"left_side=true, lower=false, unit_diagonal=false, transpose_a=ADJOINT", upper, true},
           {"left_side=false, lower=false, unit_diagonal=false, transpose_a=NO_TRANSPOSE", upper, false},
           {"left_side=false, lower=true, unit_diagonal=false, transpose_a=TRANSPOSE", lower, false},
           {"left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE", unit_lower, true},
           {"left_side=false, lower=false, unit_diagonal=true, transpose_a=NO_TRANSPOSE", unit_upper,
            false}}) {
    INFO(form.attributes);
    const std::string b = form.left ? "f32[2,1]" : "f32[1,2]";
    const std::vector<double> radii = RadiiOf(
        Solve("f32[2,2]", b, form.attributes),
        {FloatMatrix(2, 2, form.a), form.left ? FloatMatrix(2, 1, {2, 3}) : FloatMatrix(1, 2, {2, 3})});
    REQUIRE(radii.size() == 2);
    CHECK(radii[0] == Approx(first).epsilon(1e-3));
    CHECK(radii[1] == Approx(second).epsilon(1e-3));
  }
}

// n = 1: g = (1 + kHalfUlpOfOne)^2 (1 + kHalfUlpOfOne)^2 (1 + kHalfUlpOfOne)^2 - 1 = 6 u, so g1 + 2 h =
// 16.02 u. Of a = 4: d = 2, Q = 1/2, Z = 16.02 u, B = 1.05 Z / 2 and r = 2 B.
TEST_CASE("bounds: cholesky of one element", "[check][bounds]") {
  CHECK(RadiiOf("ENTRY e { a = f32[1,1] parameter(0)\n  ROOT l = f32[1,1] cholesky(a), lower=true }",
                {FloatMatrix(1, 1, {4})})[0] == Approx(1.05 * 16.02 * kHalfUlpOfOne).epsilon(1e-3));
  // a = 10 with R = 50 u: Z = 16.02 u + 5 u.
  CHECK(RadiusBehindTen("  a = f32[1,1] reshape(ten)\n  ROOT l = f32[1,1] cholesky(a), lower=false\n") ==
        Approx(std::sqrt(10) * 1.05 * 21.02 * kHalfUlpOfOne / 2).epsilon(1e-3));
  // A matrix that may not be positive: 10 - 10.
  CHECK_FALSE(RadiusBehindTen("  c = f32[] constant(10)\n  d = f32[] subtract(ten, c)\n"
                              "  a = f32[1,1] reshape(d)\n  ROOT l = f32[1,1] cholesky(a), lower=true\n") <
              std::numeric_limits<double>::infinity());
}

// Lower and upper factors of one matrix, and of its conjugate; the other triangle is zero.
TEST_CASE("bounds: cholesky of either triangle", "[check][bounds]") {
  const auto radii = [](const std::vector<double>& a, bool lower) {
    return RadiiOf(
        std::string("ENTRY e { a = f32[2,2] parameter(0)\n  ROOT l = f32[2,2] cholesky(a), lower=") +
            (lower ? "true }" : "false }"),
        {FloatMatrix(2, 2, a)});
  };
  const std::vector<double> lower = radii({4, 77, 2, 5}, true), upper = radii({4, 2, 77, 5}, false);
  REQUIRE(lower.size() == 4);
  CHECK(lower[1] == 0);
  CHECK(upper[2] == 0);
  CHECK(lower[0] == upper[0]);
  CHECK(lower[2] == upper[1]);
  CHECK(lower[3] == upper[3]);
  // L = (2 0; 1 2), L^-1 = (1/2 0; -1/4 1/2), d = (2, sqrt 5), q = Q d; n = 2: g = 7 u.
  const double share = (2 * 7 + 4.02) * kHalfUlpOfOne, q0 = 1, q1 = 0.5 + 0.5 * std::sqrt(5);
  CHECK(lower[0] == Approx(1.05 * 2 * share * q0 * q0 / 2).epsilon(1e-3));
  CHECK(lower[2] == Approx(1.05 * share * (q0 * q0 / 2 + 2 * q1 * q0)).epsilon(1e-3));
  CHECK(lower[3] == Approx(1.05 * 2 * share * q1 * q1 / 2).epsilon(1e-3));
}

// n = 1: |A|_F from above is sqrt(3) sqrt(2 3), of a triangle whose elements stand in the matrix twice; 10 n
// u of it, and Assay's own rounding of 3.
TEST_CASE("bounds: eigenvalues are as far apart as matrices, vectors are undecided", "[check][bounds]") {
  const BoundedOutputs bounded = Bounded(
      "ENTRY e { a = f32[1,1] parameter(0)\n  ROOT r = (f32[1,1], f32[1], s32[]) custom-call(a), "
      "custom_call_target=\"lapack_ssyevd_ffi\", api_version=API_VERSION_TYPED_FFI, "
      "backend_config={mode = 86 : ui8, uplo = 76 : ui8} }",
      {FloatMatrix(1, 1, {3})});
  REQUIRE(bounded.outputs.size() == 3);
  CHECK(bounded.unchecked.size() == 1);
  CHECK(bounded.outputs[0].radius->GetDouble(0) == std::numeric_limits<double>::infinity());
  CHECK(bounded.outputs[1].radius->GetDouble(0) ==
        Approx((10 * std::sqrt(18) + 3) * kHalfUlpOfOne).epsilon(1e-3));
  CHECK(bounded.outputs[2].radius->GetDouble(0) == 0);
}

// The factor in one triangle, the matrix in the other; and that it did not fail.
TEST_CASE("bounds: LAPACK's potrf", "[check][bounds]") {
  const auto of = [](const std::vector<double>& a) {
    return Bounded(
        "ENTRY e { a = f32[2,2] parameter(0)\n  ROOT r = (f32[2,2], s32[]) custom-call(a), "
        "custom_call_target=\"lapack_spotrf_ffi\", api_version=API_VERSION_TYPED_FFI, "
        "backend_config={uplo = 76 : ui8} }",
        {FloatMatrix(2, 2, a)});
  };
  const BoundedOutputs good = of({4, 77, 2, 5});
  CHECK(good.unchecked.empty());
  CHECK(good.outputs[0].radius->GetDouble(1) == 0);
  CHECK(good.outputs[0].radius->GetDouble(3) > 0);
  CHECK(good.outputs[0].radius->GetDouble(3) < 1e-5);
  CHECK(good.outputs[1].radius->GetDouble(0) == 0);
  // A matrix that is not positive definite, and one that is on the edge.
  for (const double last : {-5.0, 1.0}) {
    const BoundedOutputs bad = of({4, 77, 2, last});
    CHECK_FALSE(bad.outputs[0].radius->GetDouble(3) < std::numeric_limits<double>::infinity());
    CHECK(bad.outputs[1].radius->GetDouble(0) == std::numeric_limits<double>::infinity());
  }
}

}  // namespace assay::testing
