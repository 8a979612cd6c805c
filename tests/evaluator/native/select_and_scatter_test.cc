// select-and-scatter of the native engine against the reference engine.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/evaluator/native/native_testing.h"

namespace assay::testing {
namespace {

std::string SelectAndScatter(const std::string& type, const std::string& operand, const std::string& source,
                             const std::string& window, const std::string& direction = "GE",
                             const std::string& parameters = "a, b") {
  return fmt::format(
      "x = {0}[{1}] parameter(0)\ns = {0}[{2}] parameter(1)\ni = {0}[] parameter(2)\n"
      "ROOT z = {0}[{1}] select-and-scatter(x, s, i), window={{{3}}},\n"
      "select={{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = pred[] compare({5}), "
      "direction={4} }},\n"
      "scatter={{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] add(a, b) }}",
      type, operand, source, window, direction, parameters);
}

}  // namespace

TEST_CASE("native select-and-scatter: windows and types", "[native][select-and-scatter]") {
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e5m2"}) {
    CheckAgainstReference(SelectAndScatter(type, "2,8,8,5", "2,4,4,5", "size=1x2x2x1 stride=1x2x2x1"),
                          kAllDraws);
    CheckAgainstReference(
        SelectAndScatter(type, "2,9,7,5", "2,5,4,5", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"),
        kAllDraws);
    CheckAgainstReference(SelectAndScatter(type, "2,3,9,9", "2,3,4,4", "size=1x1x3x3 stride=1x1x2x2"),
                          kAllDraws);
    CheckAgainstReference(SelectAndScatter(type, "2,3,9,9", "2,3,11,11", "size=1x1x3x3 pad=0_0x0_0x2_2x2_2"),
                          kAllDraws);
  }
}

TEST_CASE("native select-and-scatter: every comparison", "[native][select-and-scatter]") {
  for (const char* direction : {"GE", "GT", "LE", "LT", "EQ", "NE"}) {
    for (const char* parameters : {"a, b", "b, a", "a, a"}) {
      CheckAgainstReference(
          SelectAndScatter("f32", "30,17", "10,15", "size=5x3 stride=3x1 pad=1_1x0_0", direction, parameters),
          kAllDraws);
    }
  }
}

TEST_CASE("native select-and-scatter: wide and narrow windows", "[native][select-and-scatter]") {
  CheckAgainstReference(SelectAndScatter("f32", "1000", "1000", "size=999 pad=499_499"), {Draw::kNormal});
  CheckAgainstReference(SelectAndScatter("f32", "5", "9", "size=1001 pad=502_502"), {Draw::kNormal});
  CheckAgainstReference(SelectAndScatter("f32", "70,64,70", "35,64,35", "size=2x1x2 stride=2x1x2"),
                        {Draw::kNormal, Draw::kIntegers, Draw::kSpecials});
  CheckAgainstReference(SelectAndScatter("f32", "0,4", "0,4", "size=1x1"), {Draw::kNormal});
  CheckAgainstReference(SelectAndScatter("f32", "", "", ""), {Draw::kNormal});
  // A gap between windows, and windows of padding alone.
  CheckAgainstReference(SelectAndScatter("f32", "6", "6", "size=2 stride=3 pad=5_6"), kAllDraws);
}

}  // namespace assay::testing
