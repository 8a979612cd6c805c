// Windows of the native engine against the reference engine.
#include <catch2/catch.hpp>

#include "evaluator/scalar/exact_sum.h"
#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string ReduceWindow(const std::string& type, const std::string& sizes, const std::string& result,
                         const std::string& window, const std::string& op = "add") {
  return ReduceWindowOf(type, sizes, result, window, RootOf(type, op));
}

}  // namespace

TEST_CASE("native reduce-window: cumulative sums", "[native][window]") {
  CheckAgainstReference(ReduceWindow("f32", "700", "700", "size=700 pad=699_0"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "9,33,5", "9,33,5", "size=1x33x1 pad=0_0x32_0x0_0"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "300", "300", "size=300 pad=0_299"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f64", "300", "300", "size=300 pad=299_0"), kAllDraws);
  CheckAgainstReference(ReduceWindow("bf16", "300", "300", "size=300 pad=299_0"), kAllDraws);
}

TEST_CASE("native reduce-window: cumulative sums that are cut, padded or run backward", "[native][window]") {
  // Windows of two rows: not cut.
  CheckAgainstReference(ReduceWindow("f32", "2,700", "1,700", "size=2x700 pad=0_0x699_0"), kAllDraws);
  // Empty windows at the beginning, all of them equal at the end, several new elements a window.
  CheckAgainstReference(ReduceWindow("f32", "700", "1431", "size=720 pad=729_721"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "700", "1431", "size=720 pad=721_729"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "700", "234", "size=700 stride=3 pad=699_0"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "700", "101", "size=700 pad=100_0"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "700", "101", "size=700 pad=0_100"), kAllDraws);
  CheckAgainstReference(ReduceWindow("bf16", "3,600", "3,600", "size=1x600 pad=0_0x0_599"), kAllDraws);
}

// Too long for the reference: a running exact sum, rounded at each step.
TEST_CASE("native reduce-window: long cumulative sums in parts", "[native][window]") {
  constexpr int64_t kElements = 100000;
  for (const char* type : {"f32", "f64"}) {
    for (bool backward : {false, true}) {
      const Plan reference = ReferencePlan(ReduceWindow(
          type, "100000", "100000", backward ? "size=100000 pad=0_99999" : "size=100000 pad=99999_0"));
      for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kIntegers}) {
        const std::vector<Literal> arguments = DrawnArguments(reference, draw, 3);
        const FloatFormat& format = *Info(arguments[0].shape().element_type()).format;
        std::vector<double> wanted(kElements);
        ExactSum sum;
        sum.Add(arguments[1].GetDouble(0));
        for (int64_t i = 0; i < kElements; ++i) {
          const int64_t at = backward ? kElements - 1 - i : i;
          sum.Add(arguments[0].GetDouble(at));
          wanted[at] = sum.Round(format);
        }
        for (Isa isa : MachineIsas()) {
          for (int jobs : {1, 2, 7}) {
            int kernels = 0;
            const Plan plan = NativePlan(reference, isa, &kernels);
            REQUIRE(plan.computations[static_cast<size_t>(plan.module->entry.value)].steps.back().kernel !=
                    nullptr);
            const absl::StatusOr<Literal> result = RunPlan(plan, arguments, jobs);
            REQUIRE(result.ok());
            int64_t wrong = 0;
            for (int64_t i = 0; i < kElements; ++i) wrong += result->GetDouble(i) != wanted[i] ? 1 : 0;
            INFO(type << " draw " << static_cast<int>(draw) << " jobs " << jobs << " backward " << backward);
            CHECK(wrong == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("native reduce-window: sliding sums", "[native][window]") {
  CheckAgainstReference(ReduceWindow("f32", "600", "561", "size=40"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "600", "622", "size=40 pad=31_30"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "600", "620", "size=1 pad=10_10"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "600", "83", "size=17 stride=7 pad=0_-3"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "600", "46", "size=5 stride=13 pad=-9_2"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "5,20,31", "5,18,27", "size=1x3x5"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "5,20,31", "4,7,37", "size=2x3x3 stride=1x3x1 pad=0_0x1_0x4_4"),
                        kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "20,31", "18,61", "size=3x5 pad=0_0x2_2 lhs_dilate=1x2"),
                        kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "20,31", "16,26", "size=3x6 rhs_dilate=2x1"), kAllDraws);
  CheckAgainstReference(ReduceWindow("f32", "6", "12", "size=3 pad=4_4"), kAllDraws);
}

TEST_CASE("native reduce-window: sums of windows that share nothing", "[native][window]") {
  for (const char* type : {"f32", "bf16", "f64"}) {
    CheckAgainstReference(ReduceWindow(type, "2,23,64", "2,23,2", "size=1x1x32 stride=1x1x32"), kAllDraws);
    CheckAgainstReference(ReduceWindow(type, "3,70", "3,6", "size=1x9 stride=1x12"), kAllDraws);
    CheckAgainstReference(ReduceWindow(type, "7,5,40", "3,2,4", "size=2x2x10 stride=2x3x10"), kAllDraws);
    CheckAgainstReference(ReduceWindow(type, "600,30", "2,1", "size=300x30 stride=300x77"), kAllDraws);
    CheckAgainstReference(ReduceWindow(type, "20", "1", "size=20 stride=4611686018427387904"), kAllDraws);
  }
}

TEST_CASE("native reduce-window: associative reducers", "[native][window]") {
  for (const char* type : {"s8", "u8", "s4", "s32", "u32", "u64", "s64", "pred"}) {
    for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      CheckAgainstReference(ReduceWindow(type, "3,200", "3,214", "size=1x40 pad=0_0x31_22", op),
                            {Draw::kNormal});
      CheckAgainstReference(ReduceWindow(type, "3,200", "3,200", "size=1x200 pad=0_0x199_0", op),
                            {Draw::kNormal});
    }
  }
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e4m3b11fnuz", "f4e2m1fn"}) {
    for (const char* op : {"maximum", "minimum"}) {
      CheckAgainstReference(ReduceWindow(type, "12,200", "10,214", "size=3x40 pad=0_0x31_22", op), kAllDraws);
      CheckAgainstReference(ReduceWindow(type, "50", "150", "size=10 pad=60_49", op), kAllDraws);
    }
  }
}

}  // namespace assay::testing
