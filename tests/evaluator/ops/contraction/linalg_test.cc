#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

constexpr char kLower[] = ", lower=true";

TEST_CASE("cholesky: reads one triangle and leaves the other zero", "[cholesky]") {
  CHECK(Gives("cholesky", {"f32[2,2] {{4, 99}, {2, 5}}"}, "f32[2,2] {{2, 0}, {1, 2}}", kLower));
  CHECK(Gives("cholesky", {"f32[2,2] {{4, 2}, {99, 5}}"}, "f32[2,2] {{2, 1}, {0, 2}}"));
  CHECK(Gives("cholesky", {"f32[2,2] {{4, nan}, {2, 5}}"}, "f32[2,2] {{2, 0}, {1, 2}}", kLower));
}

TEST_CASE("cholesky: a matrix that is not positive is all NaN, alone", "[cholesky]") {
  CHECK(Gives("cholesky", {"f32[2,2,2] {{{1, 2}, {2, 1}}, {{4, 0}, {2, 5}}}"},
              "f32[2,2,2] {{{nan, nan}, {nan, nan}}, {{2, 0}, {1, 2}}}", kLower));
}

TEST_CASE("cholesky: inner sums are exact", "[cholesky]") {
  // a_11 - L_10^2 with a_11 = 1 + 2^-23 and L_10 = 1: f32 arithmetic keeps 2^-23, whose root is 2^-11.5.
  const double half = RoundToFormat(std::sqrt(std::ldexp(1, -23)), *Info(ElementType::kF32).format);
  char text[64];
  std::snprintf(text, sizeof text, "f32[2,2] {{1, 0}, {1, %a}}", half);
  CHECK(Gives("cholesky", {"f32[2,2] {{1, 0}, {1, 0x1.000002p+0}}"}, text, kLower));
}

TEST_CASE("cholesky: random matrices against the formula in rational arithmetic", "[cholesky]") {
  RandomDoubles random(41);
  for (ElementType type : {ElementType::kF32, ElementType::kBF16}) {
    for (int64_t n : {1, 2, 5, 9}) {
      Doubles a = random.Fill(type, {n, n}, 1), l(type, {n, n});
      for (int64_t i = 0; i < n; ++i) a.At({i, i}) = 64;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          RationalSum sum;
          sum.Add(a.At({i, j}));
          for (int64_t k = 0; k < j; ++k) sum.AddProduct(-l.At({i, k}), l.At({j, k}));
          const double s = sum.Round(type);
          // sqrt and division of values with at most 24 bits: double rounding is harmless at 53 bits.
          l.At({i, j}) = RoundToFormat(i == j ? std::sqrt(s) : s / l.At({j, j}), *Info(type).format);
        }
      }
      const std::string program = R"(ENTRY e {
  a = )" + a.Text() + R"( parameter(0)
  ROOT l = )" + a.Text() + " cholesky(a), lower=true\n}\n";
      INFO(program);
      CHECK(Differences(RunGood(program, {a.ToLiteral()}), l) == 0);
    }
  }
}

std::string SolveAttributes(bool left, bool lower, bool unit, const std::string& op) {
  const auto text = [](bool value) { return std::string(value ? "true" : "false"); };
  return ", left_side=" + text(left) + ", lower=" + text(lower) + ", unit_diagonal=" + text(unit) +
         ", transpose_a=" + op;
}

TEST_CASE("triangular-solve: the examples of the specification", "[triangular-solve]") {
  CHECK(Gives("triangular-solve", {"f32[2,2] {{2, nan}, {1, 4}}", "f32[2,1] {{4}, {10}}"},
              "f32[2,1] {{2}, {2}}", SolveAttributes(true, true, false, "NO_TRANSPOSE")));
  CHECK(Gives("triangular-solve", {"f32[2,2] {{2, nan}, {1, 4}}", "f32[2,1] {{4}, {10}}"},
              "f32[2,1] {{0.75}, {2.5}}", SolveAttributes(true, true, false, "TRANSPOSE")));
  CHECK(Gives("triangular-solve", {"f32[2,2] {{nan, 3}, {nan, nan}}", "f32[1,2] {{2, 10}}"},
              "f32[1,2] {{2, 4}}", SolveAttributes(false, false, true, "NO_TRANSPOSE")));
}

// With a unit diagonal and small integers every step is exact, so that multiplying back must give b.
TEST_CASE("triangular-solve: every side, triangle and transpose solves its equation", "[triangular-solve]") {
  RandomDoubles random(42);
  for (int mask = 0; mask < 8; ++mask) {
    const bool left = mask & 1, lower = mask & 2, transpose = mask & 4;
    Doubles a(ElementType::kF64, {4, 4}),
        b(ElementType::kF64, left ? std::vector<int64_t>{4, 3} : std::vector<int64_t>{3, 4});
    for (double& v : a.values) v = static_cast<double>(random.Int(-5, 5));
    for (double& v : b.values) v = static_cast<double>(random.Int(-50, 50));
    const std::string program = R"(ENTRY e {
  a = )" + a.Text() + R"( parameter(0)
  b = )" + b.Text() +
                                R"( parameter(1)
  ROOT x = )" + b.Text() + " triangular-solve(a, b)" +
                                SolveAttributes(left, lower, true, transpose ? "TRANSPOSE" : "NO_TRANSPOSE") +
                                "\n}\n";
    const Literal x = RunGood(program, {a.ToLiteral(), b.ToLiteral()});
    const auto op_a = [&](int64_t i, int64_t j) {
      if (transpose) std::swap(i, j);
      return i == j ? 1.0 : (lower ? j < i : j > i) ? a.At({i, j}) : 0.0;
    };
    INFO(program);
    ForEachIndex(b.sizes, [&](const std::vector<int64_t>& at) {
      double product = 0;
      for (int64_t k = 0; k < 4; ++k) {
        product +=
            left ? op_a(at[0], k) * x.GetDouble(k * 3 + at[1]) : x.GetDouble(at[0] * 4 + k) * op_a(k, at[1]);
      }
      CHECK(product == b.At(at));
    });
  }
}

TEST_CASE("triangular-solve: a singular diagonal follows IEEE division", "[triangular-solve]") {
  CHECK(Gives("triangular-solve", {"f32[1,1] {{0}}", "f32[1,2] {{4, 0}}"}, "f32[1,2] {{inf, nan}}",
              SolveAttributes(true, true, false, "NO_TRANSPOSE")));
}

}  // namespace
}  // namespace assay
