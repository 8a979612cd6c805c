// Walking arrays: strips, repeated scalars, run-time sizes, reuse of operands.
#include "evaluator/elementwise.h"

#include <catch2/catch.hpp>

#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

constexpr char kDynamic[] =
    R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] parameter(1)
  k = s32[] parameter(2)
  a = f32[<=4] set-dimension-size(x, n), dimensions={0}
  b = f32[<=4] set-dimension-size(x, k), dimensions={0}
  ROOT r = f32[<=4] divide(a, b)
}
)";

TEST_CASE("elementwise: run-time sizes that differ are an error", "[DYN-4]") {
  const absl::StatusOr<Literal> result = RunText(kDynamic, {"f32[4] {1, 2, 3, 4}", "s32[] 2", "s32[] 3"});
  REQUIRE(!result.ok());
  CHECK(ExitCodeOf(result.status()) == 5);
  CHECK(result.status().message().find("DYN-4") != std::string::npos);
}

TEST_CASE("elementwise: the result has the operands' run-time size and clear dead elements", "[DYN-7]") {
  const absl::StatusOr<Literal> result = RunText(kDynamic, {"f32[4] {1, 2, 3, 4}", "s32[] 2", "s32[] 2"});
  REQUIRE(result.ok());
  CHECK(result->dynamic_size(0) == 2);
  CHECK(result->GetDouble(1) == 1);
  CHECK(result->GetDouble(2) == 0);  // 0 / 0 would be NaN
  CHECK(result->GetDouble(3) == 0);
}

TEST_CASE("elementwise: every length around the strip and block sizes", "[elementwise]") {
  for (int64_t n : {0, 1, 2, 3, 4, 7, 8, 9, 31, 33, 255, 256, 257, 511, 513, 1000}) {
    for (ElementType type : {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kS32,
                             ElementType::kU8, ElementType::kS64}) {
      std::vector<double> x(n), y(n), sum(n);
      for (int64_t i = 0; i < n; ++i) {
        x[i] = static_cast<double>(i % 7);
        y[i] = static_cast<double>(i % 5);
        sum[i] = x[i] + y[i];
      }
      const auto literal = [&](const std::vector<double>& v) {
        if (IsFloat(type)) return Literal::FromDoubles(type, {&n, 1}, v);
        return Literal::FromInts(type, {&n, 1}, std::vector<int64_t>(v.begin(), v.end()));
      };
      const std::string shape = std::string(Name(type)) + "[" + std::to_string(n) + "]";
      const Program program = ProgramOf(OpProgram("add", {shape + " ", shape + " "}, shape));
      const absl::StatusOr<Literal> result = program.Run({literal(x), literal(y)});
      REQUIRE(result.ok());
      INFO(shape);
      CHECK(Literal::BitwiseEqual(*result, literal(sum)));
    }
  }
}

TEST_CASE("elementwise: an operand that is used again is not overwritten", "[elementwise]") {
  const absl::StatusOr<Literal> result = RunText(
      R"(HloModule m
ENTRY e {
  x = s32[3] parameter(0)
  y = s32[3] negate(x)
  z = s32[3] add(y, x)
  w = s32[3] add(z, z)
  ROOT t = (s32[3], s32[3], s32[3], s32[3]) tuple(x, y, z, w)
}
)",
      {"s32[3] {1, 2, 3}"});
  REQUIRE(result.ok());
  CHECK(Literal::BitwiseEqual(result->element(0), Value("s32[3] {1, 2, 3}")));
  CHECK(Literal::BitwiseEqual(result->element(1), Value("s32[3] {-1, -2, -3}")));
  CHECK(Literal::BitwiseEqual(result->element(2), Value("s32[3] {0, 0, 0}")));
  CHECK(Literal::BitwiseEqual(result->element(3), Value("s32[3] {0, 0, 0}")));
}

TEST_CASE("elementwise: a result of another kind may reuse its operand's bytes", "[elementwise]") {
  CHECK(Gives("convert", {"s64[4] {1, -2, 3, -4}"}, "f64[4] {1, -2, 3, -4}"));
  CHECK(Gives("convert", {"f64[4] {1.5, -2.5, 3, nan}"}, "s64[4] {1, -2, 3, 0}"));
  CHECK(Gives("convert", {"f32[3] {1.5, -2.5, nan}"}, "s32[3] {1, -2, 0}"));
}

}  // namespace
}  // namespace assay
