#include "literal/compare.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

constexpr int64_t kNotComparable = std::numeric_limits<int64_t>::max();

Literal Value(std::string_view shape, std::string_view text) {
  return *ParseLiteral(*ParseShape(shape), text, {.hex_floats = true});
}
LeafComparison Leaf(std::string_view shape, std::string_view expected, std::string_view actual,
                    const Tolerance& tolerance = {}) {
  const Comparison comparison = CompareLiterals(Value(shape, expected), Value(shape, actual), tolerance);
  REQUIRE(comparison.leaves.size() == 1);
  CHECK(comparison.ok() == (comparison.leaves[0].outside == 0));
  return comparison.leaves[0];
}

}  // namespace

TEST_CASE("compare: ulp distance counts the values between", "[literal][compare]") {
  const FloatFormat& f32 = *Info(ElementType::kF32).format;
  const FloatFormat& f64 = *Info(ElementType::kF64).format;
  const FloatFormat& f4 = *Info(ElementType::kF4E2M1FN).format;
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(UlpDistance(1, 0x1.000002p0, f32) == 1);
  CHECK(UlpDistance(1, 0x1.fffffep-1, f32) == 1);
  CHECK(UlpDistance(1, 2, f32) == 1 << 23);
  CHECK(UlpDistance(-0x1p-149, 0x1p-149, f32) == 2);
  CHECK(UlpDistance(0.0, -0.0, f32) == 0);
  CHECK(UlpDistance(0x1.fffffep127, inf, f32) == 1);
  CHECK(UlpDistance(inf, inf, f32) == 0);
  CHECK(UlpDistance(inf, -inf, f32) == kNotComparable);
  CHECK(UlpDistance(NAN, NAN, f32) == 0);
  CHECK(UlpDistance(NAN, 1, f32) == kNotComparable);
  CHECK(UlpDistance(-6, 6, f4) == 14);
  CHECK(UlpDistance(1, 0x1.0000000000001p0, f64) == 1);
  CHECK(UlpDistance(-1.7e308, 1.7e308, f64) == kNotComparable);
}

// Of each format that NumPy lacks, worked out from its values: a pair across zero, one across a power of two,
// the largest finite value and what lies beyond it.
TEST_CASE("compare: ulp distances of narrow formats", "[literal][compare]") {
  struct Row {
    ElementType type;
    double a, b;
    int64_t ulps;
  };
  const double inf = std::numeric_limits<double>::infinity();
  using E = ElementType;
  const Row kRows[] = {
      {E::kBF16, 1, 1.0078125, 1},
      {E::kBF16, -0x1p-133, 0x1p-133, 2},
      {E::kBF16, 0x1.fcp127, inf, 2},
      {E::kF8E5M2, 1.75, 2.5, 2},  // 1.75, 2, 2.5
      {E::kF8E5M2, -0x1p-16, 0x1p-16, 2},
      {E::kF8E5M2, 57344, inf, 1},
      {E::kF8E4M3, 1.875, 2.25, 2},
      {E::kF8E4M3, 240, inf, 1},
      {E::kF8E4M3FN, 448, 384, 2},  // 384, 416, 448
      {E::kF8E4M3FN, -0x1p-9, 0x1p-9, 2},
      {E::kF8E4M3B11FNUZ, 30, 26, 2},  // 26, 28, 30
      {E::kF8E4M3B11FNUZ, -0x1p-13, 0x1p-13, 2},
      {E::kF8E3M4, 15.5, inf, 1},
      {E::kF8E3M4, 1.9375, 2.125, 2},
      {E::kF8E5M2FNUZ, 57344, 40960, 2},
      {E::kF8E5M2FNUZ, 0, 0x1p-17, 1},
      {E::kF8E4M3FNUZ, 240, 208, 2},
      {E::kF8E4M3FNUZ, -0x1p-10, 0x1p-9, 3},
      {E::kF8E8M0FNU, 1, 8, 3},
      {E::kF8E8M0FNU, 0x1p-127, 0x1p127, 254},
      {E::kF6E3M2FN, -28, 28, 62},  // 31 positive values
      {E::kF6E3M2FN, 0.0625, -0.0625, 2},
      {E::kF6E2M3FN, 7.5, 6.5, 2},
      {E::kF6E2M3FN, -0.125, 0.25, 3},
      {E::kF4E2M1FN, 0.5, 6, 6},  // 0.5, 1, 1.5, 2, 3, 4, 6
  };
  for (const Row& row : kRows) {
    INFO(Name(row.type) << " " << row.a << " " << row.b);
    const FloatFormat& format = *Info(row.type).format;
    CHECK(UlpDistance(row.a, row.b, format) == row.ulps);
    CHECK(UlpDistance(row.b, row.a, format) == row.ulps);
    CHECK(UlpDistance(0.0, -0.0, format) == 0);
    CHECK(UlpDistance(NAN, NAN, format) == 0);
  }
}

TEST_CASE("compare: equal bits, zeros of both signs and NaNs of any payload pass", "[literal][compare]") {
  CHECK(Leaf("f32[3]", "{1, nan, inf}", "{1, nan, inf}").different == 0);
  const LeafComparison zeros = Leaf("f32[]", "0", "-0.0");
  CHECK(zeros.different == 1);
  CHECK(zeros.outside == 0);
  CHECK(Leaf("f32[]", "nan", "nan(0x1)").different == 0);
  CHECK(Leaf("f32[]", "nan", "nan(0x1)", {.bitwise = true}).outside == 1);
  CHECK(Leaf("f32[]", "0", "-0.0", {.bitwise = true}).outside == 1);
}

TEST_CASE("compare: tolerances are absolute, relative, of the array's scale, or in ulps",
          "[literal][compare]") {
  CHECK(Leaf("f32[]", "1", "1.5").outside == 1);
  CHECK(Leaf("f32[]", "1", "1.5", {.atol = 0.5}).outside == 0);
  CHECK(Leaf("f32[]", "1", "1.5", {.atol = 0.49}).outside == 1);
  CHECK(Leaf("f32[]", "-2", "-3", {.rtol = 0.5}).outside == 0);
  CHECK(Leaf("f32[3]", "{100, 0, inf}", "{100, 1, inf}", {.scale_rtol = 0.01}).outside == 0);
  CHECK(Leaf("f32[2]", "{100, 0}", "{100, 1.5}", {.scale_rtol = 0.01}).outside == 1);
  CHECK(Leaf("f32[]", "1", "0x1.000006p0", {.ulps = 3}).outside == 0);
  CHECK(Leaf("f32[]", "1", "0x1.000008p0", {.ulps = 3}).outside == 1);
  CHECK(Leaf("s32[]", "5", "6").outside == 1);
  CHECK(Leaf("s32[]", "5", "6", {.atol = 1}).outside == 0);
  CHECK(Leaf("s64[]", "-9223372036854775808", "9223372036854775807").max_ulps == kNotComparable);
  CHECK(Leaf("pred[2]", "{1, 0}", "{1, 1}").outside == 1);
}

TEST_CASE("compare: no tolerance makes a NaN or an infinity a number", "[literal][compare]") {
  const Tolerance loose{.atol = 1e300, .rtol = 1e300, .ulps = 5};
  CHECK(Leaf("f32[]", "nan", "1", loose).outside == 1);
  CHECK(Leaf("f32[]", "inf", "-inf", loose).outside == 1);
  CHECK(Leaf("f32[]", "inf", "1", loose).outside == 1);
  CHECK(Leaf("f32[]", "inf", "-inf").max_ulps == kNotComparable);
  CHECK(Leaf("f32[]", "nan", "1").max_ulps == 0);
}

TEST_CASE("compare: the report names the worst element of each leaf", "[literal][compare]") {
  const Comparison comparison =
      CompareLiterals(Value("(f32[2,2], s32[2], (c64[]))", "({{1,2},{3,4}}, {1,2}, ((1,2)))"),
                      Value("(f32[2,2], s32[2], (c64[]))", "({{1,0x1.000002p1},{4,4}}, {1,2}, ((1,3)))"), {});
  CHECK_FALSE(comparison.ok());
  CHECK(comparison.Report() ==
        "0: 4 elements, 2 different, 2 outside the tolerance, at most 4194304 ulp, |difference| at most 1; "
        "worst [1,0]: expected 3, actual 4 (4194304 ulp)\n"
        "1: 2 elements, all equal\n"
        "2.0: 1 element, 1 different, 1 outside the tolerance, at most 4194304 ulp, |difference| at most 1; "
        "worst []: expected (1, 2), actual (1, 3) (4194304 ulp)\n");
}

TEST_CASE("compare: shapes and run-time sizes must agree", "[literal][compare]") {
  const auto error = [](const Literal& a, const Literal& b) {
    const Comparison comparison = CompareLiterals(a, b, {});
    CHECK_FALSE(comparison.ok());
    return comparison.leaves[0].error;
  };
  CHECK(error(Value("f32[1]", "{1}"), Value("f32[]", "1")) == "expected shape f32[1], actual f32[]");
  CHECK(error(Value("f32[]", "1"), Value("f64[]", "1")) == "expected shape f32[], actual f64[]");
  CHECK(error(Value("()", "()"), Value("(f32[])", "(1)")) == "expected shape (), actual (f32[])");
  Literal shorter = *Literal::Make(*ParseShape("f32[<=3]"));
  const Literal longer = shorter;
  shorter.set_dynamic_size(0, 2);
  CHECK(error(longer, shorter) == "expected run-time sizes [3], actual [2]");
}

TEST_CASE("compare: dead elements are not compared", "[literal][compare]") {
  Literal a = Value("f32[3]", "{1,2,3}").WithShape(std::make_shared<Shape>(*ParseShape("f32[<=3]")));
  Literal b = Value("f32[3]", "{1,2,4}").WithShape(std::make_shared<Shape>(*ParseShape("f32[<=3]")));
  CHECK_FALSE(CompareLiterals(a, b, {}).ok());
  a.set_dynamic_size(0, 2);
  b.set_dynamic_size(0, 2);
  CHECK(CompareLiterals(a, b, {.bitwise = true}).leaves[0].different == 0);
  CHECK(CompareLiterals(a, b, {}).leaves[0].elements == 2);
}

}  // namespace assay
