// select-and-scatter of the native engine against the reference engine.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string SelectAndScatter(const std::string& type, const std::string& operand, const std::string& source,
                             const std::string& window, const std::string& direction = "GE",
                             const std::string& parameters = "a, b") {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
s = {0}[{2}] parameter(1)
i = {0}[] parameter(2)
ROOT z = {0}[{1}] select-and-scatter(x, s, i), window={{{3}}},
select={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = pred[] compare({5}), direction={4} }},
scatter={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {0}[] add(a, b) }})",
      type, operand, source, window, direction, parameters);
}

// Any computations; `select` gives k from a and b, `scatter` gives c.
std::string ByComputations(const std::string& type, const std::string& operand, const std::string& source,
                           const std::string& window, const std::string& select, const std::string& scatter) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
s = {0}[{2}] parameter(1)
i = {0}[] parameter(2)
ROOT z = {0}[{1}] select-and-scatter(x, s, i), window={{{3}}},
select={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 {4} }},
scatter={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 {5} }})",
      type, operand, source, window, select, scatter);
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

TEST_CASE("native select-and-scatter: any select and scatter", "[native][select-and-scatter]") {
  for (const std::string type :
       {"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"}) {
    const std::string compare = "ROOT k = pred[] compare(a, b), direction=";
    // Not the same the other way round.
    const std::string scatter = type == "pred" ? "ROOT c = pred[] compare(a, b), direction=LT"
                                               : fmt::format(R"(d = {0}[] multiply(a, a)
 ROOT c = {0}[] subtract(b, d))",
                                                             type);
    for (const std::string& select :
         {compare + "GE", compare + "NE",
          fmt::format("m = {0}[] maximum(a, b)\n ", type) + "ROOT k = pred[] compare(m, a), direction=EQ"}) {
      for (const char* window : {"2,19,18,5|2,10,9,5|size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_0x0_0",
                                 "3,40,40|3,20,20|size=1x2x2 stride=1x2x2",
                                 "40,41|40,43|size=3x3 pad=1_1x2_2", "4000|1333|size=4 stride=3 pad=1_1"}) {
        const std::string text = window;
        const size_t first = text.find('|'), second = text.rfind('|');
        const std::string body =
            ByComputations(type, text.substr(0, first), text.substr(first + 1, second - first - 1),
                           text.substr(second + 1), select, scatter);
        INFO(body);
        int kernels = 0;
        const bool has_kernel = RootHasKernel(NativePlan(ReferencePlan(body), MachineIsa(), &kernels));
        CHECK(has_kernel == (MachineIsa() != Isa::kBaseline));
        CheckAgainstReference(body, {Draw::kNormal, Draw::kIntegers, Draw::kSpecials});
      }
    }
  }
}

TEST_CASE("native select-and-scatter: sources reach their element in order, written out",
          "[native][select-and-scatter]") {
  // Windows of 3 with stride 1: up to three sources choose one element.
  constexpr int64_t kSize = 3000;
  const std::string body = ByComputations("f32", "3000", "2998", "size=3",
                                          R"(d = f32[] subtract(a, b)
 z = f32[] constant(0)
 ROOT k = pred[] compare(d, z), direction=GE)",
                                          R"(h = f32[] constant(0.75)
 d = f32[] multiply(a, h)
 ROOT c = f32[] add(d, b))");
  std::vector<double> x, s;
  std::mt19937 random(9);
  for (int64_t i = 0; i < kSize; ++i) x.push_back(static_cast<float>(random() % 7));
  for (int64_t i = 0; i < kSize - 2; ++i) s.push_back(std::normal_distribution<float>(0, 1)(random));
  int kernels = 0;
  const Plan plan = NativePlan(ReferencePlan(body), MachineIsa(), &kernels);
  const int64_t x_sizes[] = {kSize}, s_sizes[] = {kSize - 2};
  const Literal result = *RunPlan(plan, {Literal::FromDoubles(ElementType::kF32, x_sizes, x),
                                         Literal::FromDoubles(ElementType::kF32, s_sizes, s),
                                         Literal::ScalarDouble(ElementType::kF32, 0.5)});
  std::vector<float> wanted(kSize, 0.5f);
  for (size_t o = 0; o + 2 < x.size(); ++o) {
    size_t chosen = o;
    for (size_t p = o + 1; p < o + 3; ++p) {
      if (!(x[chosen] - x[p] >= 0)) chosen = p;
    }
    const float kept = wanted[chosen] * 0.75f;
    wanted[chosen] = kept + static_cast<float>(s[o]);
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < kSize; ++i) wrong += result.GetDouble(i) != wanted[static_cast<size_t>(i)] ? 1 : 0;
  CHECK(wrong == 0);
}

}  // namespace assay::testing
