// reduce-window by the engine "gpu" on the emulated driver.
#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

std::string WindowText(std::string_view type, std::string_view op, std::string_view sizes,
                       std::string_view result, std::string_view window) {
  return fmt::format(R"(HloModule m
f {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}(a, b)
}}
ENTRY e {{
  x = {0}{2} parameter(0)
  i = {0}[] parameter(1)
  ROOT r = {0}{3} reduce-window(x, i), window={{{4}}}, to_apply=f
}}
)",
                     type, op, sizes, result, window);
}

struct Geometry {
  const char *sizes, *result, *window;
};
constexpr Geometry kWindows[] = {
    {"[2,9,7,3]", "[2,7,6,3]", "size=1x3x2x1"},
    {"[1,9,7,2]", "[1,5,4,2]", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"},
    {"[9,7]", "[8,6]", "size=3x3 pad=2_-1x-1_2"},
    {"[4,5]", "[5,13]", "size=3x2 pad=1_1x2_3 lhs_dilate=2x2 rhs_dilate=2x1"},
    {"[300]", "[31]", "size=260 stride=8 pad=100_100"},
    {"[3,4]", "[1,1]", "size=3x4"},
    // Windows without elements.
    {"[3]", "[9]", "size=1 pad=3_3"},
};
// All elements of a line up to a place, and from it on.
constexpr Geometry kPrefixes[] = {
    {"[3,37,2]", "[3,37,2]", "size=1x37x1 pad=0_0x36_0x0_0"},
    {"[3,37,2]", "[3,37,2]", "size=1x37x1 pad=0_0x0_36x0_0"},
    {"[2600]", "[2600]", "size=2600 pad=2599_0"},
    {"[2,1030]", "[2,1030]", "size=1x1030 pad=0_0x0_1029"},
    {"[1,5]", "[1,5]", "size=1x5 pad=0_0x4_0"},
};

}  // namespace

TEST_CASE("sums of windows are exact", "[gpu][window]") {
  for (const Geometry& g : kWindows) {
    for (const char* type : {"f32", "f64", "bf16", "f16"})
      CheckOnDevice(WindowText(type, "add", g.sizes, g.result, g.window), 2);
  }
}

TEST_CASE("prefix sums are exact", "[gpu][window]") {
  for (const Geometry& g : kPrefixes) {
    for (const char* type : {"f32", "f64", "bf16", "f16"}) {
      const std::string text = WindowText(type, "add", g.sizes, g.result, g.window);
      CheckOnDevice(text, 2);
    }
  }
  CHECK_THAT(PlanOfEqualRun(WindowText("f32", "add", "[64]", "[64]", "size=64 pad=63_0")),
             Catch::Contains("[exact prefix sums]"));
}

// Large numbers that cancel leave small ones: neither doubles nor pairs of them hold the sum.
TEST_CASE("sums that cancel are exact", "[gpu][window]") {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 4 == 0 ? 0x1p127 : i % 4 == 2 ? -0x1p127 : i * 0x1p-140);
  const std::vector<Literal> f32{
      Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{60}, values),
      Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{}, std::vector<double>{1})};
  for (double& x : values) x = x * x * (x < 0 ? -1 : 1);
  const std::vector<Literal> f64{
      Literal::FromDoubles(ElementType::kF64, std::vector<int64_t>{60}, values),
      Literal::FromDoubles(ElementType::kF64, std::vector<int64_t>{}, std::vector<double>{0x1p-500})};
  for (const char* window : {"size=60 pad=59_0", "size=7 pad=3_3", "size=60 pad=0_59"}) {
    PlanOfEqualRun(WindowText("f32", "add", "[60]", "[60]", window), f32);
    PlanOfEqualRun(WindowText("f64", "add", "[60]", "[60]", window), f64);
  }
}

TEST_CASE("folds of windows and prefixes in any order", "[gpu][window]") {
  for (const auto* geometries : {kWindows, kPrefixes}) {
    for (int i = 0; i < 4; ++i) {
      const Geometry& g = geometries[i];
      for (const char* op : {"maximum", "minimum"}) {
        for (const char* type : {"f32", "bf16", "s8", "u64"})
          CheckOnDevice(WindowText(type, op, g.sizes, g.result, g.window), 1);
      }
      for (const char* op : {"add", "multiply", "and", "xor"})
        CheckOnDevice(WindowText("s32", op, g.sizes, g.result, g.window), 1);
      CheckOnDevice(WindowText("pred", "or", g.sizes, g.result, g.window), 1);
    }
  }
  CheckOnDevice(WindowText("f32", "maximum", "[3]", "[9]", "size=1 pad=3_3"));
}

}  // namespace assay::gpu
