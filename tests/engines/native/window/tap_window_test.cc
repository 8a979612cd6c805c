// Windows of few elements of f32, folded in registers, against the reference engine.
#include <array>
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

constexpr const char* kOps[] = {"add", "multiply", "maximum", "minimum"};

std::string Windows(const std::string& sizes, const std::string& result, const std::string& window,
                    const std::string& op) {
  return ReduceWindowOf("f32", sizes, result, window, RootOf("f32", op));
}

void CheckAlgorithm(const std::string& body, std::string_view algorithm) {
  const Plan plan = ReferencePlan(body);
  for (Isa isa : MachineIsas()) {
    const auto kernel = PrepareRoot(native::NativeEngine(isa), *plan.module);
    REQUIRE(kernel.ok());
    CHECK((*kernel)->algorithm() == algorithm);
  }
}

}  // namespace

TEST_CASE("native tap windows: features side by side", "[native][window]") {
  for (const char* op : kOps) {
    // 16 fill a vector of AVX-512; 77 are four, and a part of one.
    for (int features : {16, 77}) {
      const std::string body = Windows(fmt::format("2,7,9,{}", features), fmt::format("2,4,5,{}", features),
                                       "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_2x0_0", op);
      CheckAlgorithm(body, "features");
      CheckAgainstReference(body, kAllDraws);
    }
    CheckAgainstReference(
        Windows("5,6,32", "5,14,32", "size=2x3x1 pad=1_1x1_4x0_0 lhs_dilate=1x2x1 rhs_dilate=2x1x1", op),
        kAllDraws);
  }
}

TEST_CASE("native tap windows: lines, taken apart by their stride", "[native][window]") {
  for (const char* op : kOps) {
    for (const auto& [sizes, result, window] :
         {std::array<const char*, 3>{"2,3,9,40", "2,3,5,20",
                                     "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x0_1"},
          {"2,3,9,79", "2,3,5,40", "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1"},
          {"3,70", "3,24", "size=1x3 stride=1x3 pad=0_0x1_1"},
          {"3,70", "3,35", "size=2x4 stride=1x2 pad=0_1x1_1 rhs_dilate=1x1"},
          {"3,60", "3,60", "size=1x3 pad=0_0x1_1"},
          {"4,60", "3,56", "size=2x3 rhs_dilate=1x2"},
          // Fewer results than a vector has, and windows of padding alone.
          {"3,5", "3,3", "size=1x3 stride=1x2 pad=0_0x1_1"},
          {"2,9", "2,15", "size=1x2 pad=0_0x4_3"},
          {"2,40", "8,20", "size=2x3 stride=1x2 pad=4_3x0_1"}}) {
      const std::string body = Windows(sizes, result, window, op);
      CheckAlgorithm(body, "lines");
      CheckAgainstReference(body, kAllDraws);
    }
  }
}

TEST_CASE("native tap windows: enough for several threads", "[native][window]") {
  for (const char* op : kOps) {
    CheckAgainstReference(Windows("6,40,64", "6,20,32", "size=1x3x3 stride=1x2x2 pad=0_0x0_1x0_1", op),
                          {Draw::kNormal, Draw::kIntegers});
    CheckAgainstReference(Windows("40,40,32", "20,20,32", "size=3x3x1 stride=2x2x1 pad=0_1x0_1x0_0", op),
                          {Draw::kNormal, Draw::kIntegers});
  }
}

TEST_CASE("native tap windows: what other kernels take", "[native][window]") {
  for (const std::string& body : {Windows("9,5", "9,5", "size=3x1 pad=1_1x0_0", "maximum"),
                                  Windows("4,20", "4,37", "size=1x3 lhs_dilate=1x2", "multiply"),
                                  Windows("90,90", "82,82", "size=9x9", "add")}) {
    const Plan plan = ReferencePlan(body);
    const auto kernel = PrepareRoot(native::NativeEngine(MachineIsa()), *plan.module);
    if (kernel.ok()) CHECK((*kernel)->algorithm() != "lines");
    CheckAgainstReference(body, {Draw::kNormal});
  }
}

}  // namespace assay::testing
