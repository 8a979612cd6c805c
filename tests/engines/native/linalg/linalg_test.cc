// cholesky and triangular-solve of the native engine against the reference engine, and against MPFR.
#include <mpfr.h>

#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string Solve(const std::string& type, const std::string& a, const std::string& b,
                  const std::string& attributes) {
  return fmt::format(
      R"(a = {0}[{1}] parameter(0)
b = {0}[{2}] parameter(1)
ROOT x = {0}[{2}] triangular-solve(a, b), {3})",
      type, a, b, attributes);
}
constexpr const char* kLowerLeft = "left_side=true, lower=true, transpose_a=NO_TRANSPOSE";

// The factor of a a^H / 8 + c: positive definite in most draws for large c, failing in others.
std::string GramCholesky(const std::string& type, int n, double diagonal, const char* lower) {
  const bool complex = type[0] == 'c';
  const std::string part = type == "c64" ? "f32" : "f64";
  std::string body = fmt::format("a = {0}[{1},{1}] parameter(0)\n", type, n);
  if (complex) {
    body += fmt::format(
        "re = {2}[{1},{1}] real(a)\nim = {2}[{1},{1}] imag(a)\nminus = {2}[{1},{1}] negate(im)\n"
        "h = {0}[{1},{1}] complex(re, minus)\n",
        type, n, part);
  }
  body += fmt::format(
      R"(g = {0}[{1},{1}] dot(a, {2}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
i = s32[{1},{1}] iota(), iota_dimension=0
j = s32[{1},{1}] iota(), iota_dimension=1
e = pred[{1},{1}] compare(i, j), direction=EQ
c = {0}[] constant({3})
cc = {0}[{1},{1}] broadcast(c), dimensions={{}}
z = {0}[] constant({4})
zz = {0}[{1},{1}] broadcast(z), dimensions={{}}
d = {0}[{1},{1}] select(e, cc, zz)
s = {0}[{1},{1}] add(g, d)
ROOT l = {0}[{1},{1}] cholesky(s), lower={5})",
      type, n, complex ? "h" : "a", complex ? fmt::format("({},0)", diagonal) : fmt::format("{}", diagonal),
      complex ? "(0,0)" : "0", lower);
  return body;
}

std::string Cholesky(const std::string& type, const std::string& shape, const char* lower) {
  return fmt::format(R"(a = {0}[{1}] parameter(0)
ROOT l = {0}[{1}] cholesky(a), lower={2})",
                     type, shape, lower);
}

}  // namespace

TEST_CASE("native triangular-solve: every draw, odd shapes", "[native][triangular-solve]") {
  for (const char* type : {"f32", "f64", "c64", "c128"}) {
    CheckAgainstReference(Solve(type, "37,37", "37,21", kLowerLeft), kAllDraws);
    CheckAgainstReference(Solve(type, "29,29", "29,1", kLowerLeft), kAllDraws);
    CheckAgainstReference(Solve(type, "3,12,12", "3,12,35", kLowerLeft), kAllDraws);
  }
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2fnuz", "f8e8m0fnu", "f4e2m1fn"})
    CheckAgainstReference(Solve(type, "25,25", "25,18", kLowerLeft), kAllDraws);
}

TEST_CASE("native triangular-solve: sides, triangles and transposes", "[native][triangular-solve]") {
  for (const char* type : {"f32", "c64", "c128"}) {
    for (const char* left : {"true", "false"}) {
      for (const char* lower : {"true", "false"}) {
        for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          for (const char* unit : {"true", "false"}) {
            const std::string attributes = fmt::format(
                "left_side={}, lower={}, unit_diagonal={}, transpose_a={}", left, lower, unit, transpose);
            CheckAgainstReference(Solve(type, "2,14,14", left[0] == 't' ? "2,14,19" : "2,19,14", attributes),
                                  {Draw::kNormal, Draw::kIntegers, Draw::kSpecials});
          }
        }
      }
    }
  }
}

TEST_CASE("native cholesky: every draw, odd sizes", "[native][cholesky]") {
  for (const char* type : {"f32", "f64", "c64", "c128"}) {
    for (const char* lower : {"true", "false"}) {
      CheckAgainstReference(GramCholesky(type, 41, 0, lower), kAllDraws);
      CheckAgainstReference(GramCholesky(type, 30, 0.5, lower), kAllDraws);
      CheckAgainstReference(GramCholesky(type, 16, 1e3, lower), kAllDraws);
      CheckAgainstReference(Cholesky(type, "23,23", lower), kAllDraws);
    }
  }
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2fnuz"}) {
    CheckAgainstReference(GramCholesky(type, 26, 64, "true"), kAllDraws);
    CheckAgainstReference(GramCholesky(type, 26, 2, "false"), kAllDraws);
  }
}

TEST_CASE("native cholesky: a large matrix, and batches with failing members", "[native][cholesky]") {
  CheckAgainstReference(GramCholesky("f32", 150, 1, "true"), {Draw::kNormal, Draw::kIntegers});
  CheckAgainstReference(GramCholesky("f64", 90, 1, "false"), {Draw::kNormal, Draw::kIntegers});
  // b b^T + 8 in each of 40 matrices, and in some of them a negative pivot.
  const std::string batch =
      R"(b = f32[40,20,20] parameter(0)
f = f32[40,20,20] parameter(1)
g = f32[40,20,20] dot(b, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
n = f32[40,20,20] negate(f)
h = f32[40,20,20] power(f, f)
s = f32[40,20,20] add(g, n)
ROOT l = f32[40,20,20] cholesky(s), lower=true)";
  CheckAgainstReference(batch, {Draw::kNormal, Draw::kIntegers, Draw::kSpecials});
}

TEST_CASE("native custom calls of LAPACK routines", "[native][custom-call]") {
  CheckAgainstReference(
      R"(a = f64[3,20,20] parameter(0)
b = f64[3,20,20] parameter(1)
g = f64[3,20,20] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
ROOT l = (f64[3,20,20], s32[3]) custom-call(g), custom_call_target="lapack_dpotrf_ffi", api_version=API_VERSION_TYPED_FFI, backend_config="{uplo = 76 : ui8}")",
      {Draw::kNormal, Draw::kIntegers});
  CheckAgainstReference(
      R"(a = f32[17,17] parameter(0)
b = f32[17,9] parameter(1)
ROOT x = f32[17,9] custom-call(a, b), custom_call_target="lapack_strsm_ffi", api_version=API_VERSION_TYPED_FFI, backend_config="{diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}")",
      kAllDraws);
}

// x_i = RN(RN(b_i - sum a_ij x_j) / a_ii) in MPFR, whose sums of at most 2100 bits are exact.
TEST_CASE("native triangular-solve: an unknown is the rounded quotient of the rounded sum",
          "[native][linalg]") {
  constexpr int64_t kN = 45, kSides = 19;
  int kernels = 0;
  const Plan plan =
      NativePlan(ReferencePlan(Solve("f64", "45,45", "45,19", kLowerLeft)), MachineIsa(), &kernels);
  REQUIRE(kernels == 1);
  for (Draw draw : {Draw::kNormal, Draw::kTies, Draw::kCancelling}) {
    const std::vector<Literal> arguments = DrawnArguments(plan, draw, 5);
    const absl::StatusOr<Literal> result = RunPlan(plan, arguments, 2);
    REQUIRE(result.ok());
    mpfr_t sum, product, quotient;
    mpfr_init2(sum, 6000);
    mpfr_init2(product, 6000);
    mpfr_init2(quotient, 53);
    int wrong = 0;
    for (int64_t side = 0; side < kSides; ++side) {
      for (int64_t i = 0; i < kN; ++i) {
        mpfr_set_d(sum, arguments[1].GetDouble(i * kSides + side), MPFR_RNDN);
        bool finite = true;
        for (int64_t j = 0; j < i; ++j) {
          const double a = arguments[0].GetDouble(i * kN + j), x = result->GetDouble(j * kSides + side);
          finite = finite && std::isfinite(x);
          mpfr_set_d(product, a, MPFR_RNDN);
          mpfr_mul_d(product, product, x, MPFR_RNDN);
          mpfr_sub(sum, sum, product, MPFR_RNDN);
        }
        const double rounded = mpfr_get_d(sum, MPFR_RNDN);
        mpfr_set_d(quotient, rounded, MPFR_RNDN);
        mpfr_div_d(quotient, quotient, arguments[0].GetDouble(i * kN + i), MPFR_RNDN);
        const double wanted = mpfr_get_d(quotient, MPFR_RNDN), got = result->GetDouble(i * kSides + side);
        if (finite && std::fabs(wanted) < 1e300 && std::fabs(wanted) > 1e-300) wrong += wanted != got;
      }
    }
    mpfr_clears(sum, product, quotient, nullptr);
    INFO("draw " << static_cast<int>(draw));
    CHECK(wrong == 0);
  }
}

}  // namespace assay::testing
