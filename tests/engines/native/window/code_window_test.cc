// Windows of any computation by generated code against loops written out here,
// and against the reference engine.
#include <catch2/catch.hpp>
#include <cmath>

#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/code_testing.h"

namespace assay::testing {
namespace {

// Of one dimension: which element window offset k of output o meets, or -1.
int64_t Met(const WindowDimension& d, int64_t size, int64_t o, int64_t k) {
  const int64_t p = o * d.stride + k * d.window_dilation - d.padding_low;
  return p >= 0 && p % d.base_dilation == 0 && p / d.base_dilation < size ? p / d.base_dilation : -1;
}

}  // namespace

TEST_CASE("code windows: few applications get code when they have run often", "[native][window]") {
  const std::string program =
      ReduceWindowOf("f32", "2,8,8,16", "2,4,4,16", "size=1x2x2x1 stride=1x2x2x1", "f32[] maximum(a, b)");
  const Plan reference = ReferencePlan(program);
  int kernels = 0;
  const Plan plan = NativePlan(reference, MachineIsa(), &kernels);
  REQUIRE(RootHasKernel(plan));
  for (int run = 0; run < 6; ++run) {  // of 2,048 applications each
    const std::vector<Literal> arguments =
        DrawnArguments(plan, run % 2 == 0 ? Draw::kNormal : Draw::kSpecials, run);
    Executor referee(reference, {}), executor(plan, {});
    const absl::StatusOr<Literal> wanted = referee.Run(arguments), found = executor.Run(arguments);
    REQUIRE((wanted.ok() && found.ok()));
    CHECK(Literal::BitwiseEqual(*found, *wanted));
    CHECK(executor.statistics().steps == referee.statistics().steps);
  }
}

TEST_CASE("code windows: every type, stride, dilation and padding", "[native][window]") {
  const auto draws = {Draw::kNormal, Draw::kSpecials, Draw::kIntegers};
  for (const std::string type : kCodeTypes) {
    const std::string root = OrderedRootOf(type);
    // Neighbours in memory fold neighbours, with features and without.
    CheckByCode(ReduceWindowOf(type, "3000", "2996", "size=5", root), draws);
    CheckByCode(ReduceWindowOf(type, "2,13,11,35", "2,7,6,35",
                               "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0", root),
                draws);
    CheckByCode(ReduceWindowOf(type, "2,13,40,3", "2,11,38,3", "size=1x3x3x1", root), draws);
    CheckByCode(ReduceWindowOf(type, "2,13,80,3", "2,11,39,3", "size=1x3x3x1 stride=1x1x2x1", root), draws);
    CheckByCode(ReduceWindowOf(type, "3,40,41", "3,20,20", "size=1x3x3 stride=1x2x2 pad=0_0x1_0x0_0", root),
                draws);
    // Base dilation: every second result of a row.
    CheckByCode(
        ReduceWindowOf(type, "20,33", "20,65", "size=1x4 pad=0_0x1_2 lhs_dilate=1x2 rhs_dilate=1x1", root),
        draws);
    CheckByCode(ReduceWindowOf(type, "9,31", "8,60",
                               "size=3x4 pad=2_-1x3_2 lhs_dilate=1x2 rhs_dilate=1x2 stride=1x1", root),
                draws);
    // Cropped, and windows of padding alone.
    CheckByCode(ReduceWindowOf(type, "40,50", "36,44", "size=3x3 pad=-1_-1x-3_-1", root), draws);
    CheckByCode(ReduceWindowOf(type, "30,20", "30,60", "size=1x3 pad=0_0x22_20", root), draws);
    // One result folds many elements, in lanes or alone.
    CheckByCode(ReduceWindowOf(type, "5,900", "5,1", "size=1x900", root), draws);
    CheckByCode(ReduceWindowOf(type, "1,900,37", "1,1,37", "size=1x900x1", root), draws);
    CheckByCode(ReduceWindowOf(type, "2,5000", "1,5000", "size=2x1", root), draws);
  }
}

TEST_CASE("code windows: folds from left to right, written out", "[native][window]") {
  constexpr int64_t kRows = 23, kColumns = 37;
  const WindowDimension rows{3, 2, 2, 1, 1, 2}, columns{4, 1, 3, -2, 2, 3};
  const int64_t out_rows = *WindowOutputSize(kRows, rows), out_columns = *WindowOutputSize(kColumns, columns);
  const std::string body = ReduceWindowOf("f32", "23,37", fmt::format("{},{}", out_rows, out_columns),
                                          "size=3x4 stride=2x1 pad=2_1x3_-2 lhs_dilate=1x2 rhs_dilate=2x3",
                                          "f32[] subtract(b, a)");
  std::vector<double> x;
  std::mt19937 random(5);
  for (int64_t i = 0; i < kRows * kColumns; ++i) x.push_back(std::normal_distribution<float>(0, 1)(random));
  int kernels = 0;
  const Plan plan = NativePlan(ReferencePlan(body), MachineIsa(), &kernels);
  CHECK(RootHasKernel(plan) == HasCode());
  const int64_t sizes[] = {kRows, kColumns};
  const Literal result = *RunPlan(plan, {Literal::FromDoubles(ElementType::kF32, sizes, x),
                                         Literal::ScalarDouble(ElementType::kF32, 0.75)});
  int64_t wrong = 0;
  for (int64_t r = 0; r < out_rows; ++r) {
    for (int64_t c = 0; c < out_columns; ++c) {
      float value = 0.75f;
      for (int64_t i = 0; i < rows.size; ++i) {
        for (int64_t j = 0; j < columns.size; ++j) {
          const int64_t row = Met(rows, kRows, r, i), column = Met(columns, kColumns, c, j);
          if (row >= 0 && column >= 0)
            value = static_cast<float>(x[static_cast<size_t>(row * kColumns + column)]) - value;
        }
      }
      wrong += result.GetDouble(r * out_columns + c) != value ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("code windows: several operands, and types that are converted first", "[native][window]") {
  const auto draws = {Draw::kNormal, Draw::kSpecials, Draw::kIntegers, Draw::kZeros};
  for (const char* window :
       {"2,30,31,9|2,15,15,9|size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_0x0_0x0_0", "900|300|size=3 stride=3"}) {
    const std::string text = window;
    const size_t first = text.find('|'), second = text.rfind('|');
    const std::string x = text.substr(0, first), z = text.substr(first + 1, second - first - 1);
    for (const char* type : {"f32", "f64", "bf16", "s16"}) {
      const std::string body = fmt::format(
          R"(x = {0}[{1}] parameter(0)
y = {0}[{1}] parameter(1)
k = s32[{1}] iota(), iota_dimension=0
i = {0}[] parameter(2)
m = s32[] constant(-1)
ROOT z = ({0}[{2}], s32[{2}]) reduce-window(x, k, i, m), window={{{3}}}, to_apply={{
 a = {0}[] parameter(0)
 n = s32[] parameter(1)
 b = {0}[] parameter(2)
 o = s32[] parameter(3)
 g = pred[] compare(a, b), direction=GE
 s = {0}[] select(g, a, b)
 t = s32[] select(g, n, o)
 u = s32[] multiply(t, o)
 ROOT r = ({0}[], s32[]) tuple(s, u) }})",
          type, x, z, text.substr(second + 1));
      INFO(body);
      CheckAgainstReference(body, draws);
    }
  }
  CheckByCode(
      R"(x = bf16[3000] parameter(0)
i = f64[] parameter(1)
ROOT z = f32[2998] reduce-window(x, i), window={size=3}, to_apply={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] multiply(a, b) })",
      draws);
  CheckByCode(
      R"(x = f32[3000] parameter(0)
i = f32[] parameter(1)
ROOT z = f32[2998] reduce-window(x, i), window={size=3}, to_apply={ a = f32[] parameter(0)
 b = bf16[] parameter(1)
 d = f32[] convert(b)
 ROOT c = f32[] multiply(a, d) })",
      draws);
}

TEST_CASE("code windows: steps are the reference's where its function counts none", "[native][window]") {
  // 3 x 199 x 99 windows of 2 x 3; the computation's own elements are fewer than what is counted at a time.
  const std::string body =
      ReduceWindowOf("f32", "3,200,101", "3,199,99", "size=1x2x3", "f32[] multiply(a, b)");
  const Literal x = *Literal::Make(Shape::ArrayOrDie(ElementType::kF32, DimVector{3, 200, 101}));
  const Literal init = Literal::ScalarDouble(ElementType::kF32, 1);
  int64_t steps[3];
  const Plan plan = ReferencePlan(body);
  int kernels = 0;
  const Plan native = NativePlan(plan, MachineIsa(), &kernels);
  for (int i = 0; i < 3; ++i) {
    RunOptions options;
    options.jobs = i == 1 ? 1 : 3;
    Executor executor(i == 0 ? plan : native, options);
    REQUIRE(executor.Run({x, init}).ok());
    steps[i] = executor.statistics().steps;
  }
  CHECK(steps[1] == steps[0]);
  CHECK(steps[2] == steps[0]);
}

TEST_CASE("window sums: small windows of floats", "[native][window]") {
  for (const std::string type : {"f32", "bf16", "f16", "f64"}) {
    const std::string root = type + "[] add(a, b)";
    CheckAgainstReference(ReduceWindowOf(type, "2,13,11,35", "2,7,6,35",
                                         "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0", root),
                          kAllDraws);
    CheckAgainstReference(
        ReduceWindowOf(type, "3,40,41", "3,20,20", "size=1x3x3 stride=1x2x2 pad=0_0x1_0x0_0", root),
        kAllDraws);
    CheckAgainstReference(ReduceWindowOf(type, "20,33", "20,65", "size=1x4 pad=0_0x1_2 lhs_dilate=1x2", root),
                          kAllDraws);
    CheckAgainstReference(ReduceWindowOf(type, "3000", "3100", "size=5 pad=50_54", root), kAllDraws);
    CheckAgainstReference(ReduceWindowOf(type, "40,120", "40,1", "size=1x120", root), kAllDraws);
  }
}

}  // namespace assay::testing
