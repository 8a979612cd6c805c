// Scatters of the native engine against the reference engine, and sums against rational arithmetic.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/native_testing.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::testing {
namespace {

// The indices are drawn: their remainder keeps most of them inside.
std::string Scatter(const std::string& type, const std::string& operand, const std::string& indices,
                    const std::string& updates, const std::string& attributes, int range,
                    const std::string& op = "add") {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
d = s32[{2}] parameter(1)
u = {0}[{3}] parameter(2)
r = s32[] constant({5})
b = s32[{2}] broadcast(r), dimensions={{}}
i = s32[{2}] remainder(d, b)
o = s32[] constant({6})
c = s32[{2}] broadcast(o), dimensions={{}}
j = s32[{2}] add(i, c)
ROOT z = {0}[{1}] scatter(x, j, u), {4}, {7})",
      type, operand, indices, updates, attributes, range, range - 3, ApplyOf(type, RootOf(type, op)));
}
const char* const kPoints =
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";
const char* const kRows =
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

}  // namespace

TEST_CASE("native scatter: sums of every kind of type", "[native][scatter]") {
  for (const char* type :
       {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn", "c64", "c128"}) {
    CheckAgainstReference(Scatter(type, "40", "150,1", "150", kPoints, 20), kAllDraws);
    CheckAgainstReference(Scatter(type, "4000", "50,1", "50", kPoints, 2000), kAllDraws);
    CheckAgainstReference(Scatter(type, "20,37", "70,1", "70,37", kRows, 10), kAllDraws);
  }
}

TEST_CASE("native scatter: sums of windows", "[native][scatter]") {
  for (const char* type : {"f32", "f64", "c64"}) {
    // Columns, updates with the window first, windows that overlap, long rows, several index components.
    CheckAgainstReference(
        Scatter(type, "7,20", "30,1", "7,30",
                "update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
                "index_vector_dim=1",
                10),
        kAllDraws);
    CheckAgainstReference(Scatter(type, "40", "30,1", "30,5",
                                  "update_window_dims={1}, inserted_window_dims={}, "
                                  "scatter_dims_to_operand_dims={0}, index_vector_dim=1",
                                  20),
                          kAllDraws);
    CheckAgainstReference(Scatter(type, "9,600", "40,1", "40,600", kRows, 5), kAllDraws);
    CheckAgainstReference(Scatter(type, "12,9,11", "33,2", "33,11",
                                  "update_window_dims={1}, inserted_window_dims={0,1}, "
                                  "scatter_dims_to_operand_dims={1,0}, index_vector_dim=1",
                                  5),
                          kAllDraws);
    CheckAgainstReference(
        Scatter(type, "6,20,5", "6,30,1", "6,30,5",
                "update_window_dims={2}, inserted_window_dims={1}, input_batching_dims={0}, "
                "scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, "
                "index_vector_dim=2",
                10),
        kAllDraws);
  }
}

TEST_CASE("native scatter: many hits, and parts of them", "[native][scatter]") {
  for (const char* type : {"f32", "f64"}) {
    CheckAgainstReference(Scatter(type, "3000", "70001,1", "70001", kPoints, 1500), kAllDraws);
    CheckAgainstReference(Scatter(type, "1", "70001,1", "70001", kPoints, 1), kAllDraws);
    CheckAgainstReference(Scatter(type, "400000", "20000,1", "20000", kPoints, 200000), kAllDraws);
    CheckAgainstReference(Scatter(type, "0", "5,1", "5", kPoints, 2), {Draw::kNormal});
  }
}

TEST_CASE("native scatter: elements that are hit often", "[native][scatter]") {
  for (const char* type : {"f32", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn", "f64"}) {
    CheckAgainstReference(Scatter(type, "700", "3000,1", "3000", kPoints, 400), kAllDraws);
    CheckAgainstReference(Scatter(type, "3,5", "3000,2", "3000",
                                  "update_window_dims={}, inserted_window_dims={0,1}, "
                                  "scatter_dims_to_operand_dims={1,0}, index_vector_dim=1",
                                  4),
                          kAllDraws);
  }
}

TEST_CASE("native scatter: combiners without an order", "[native][scatter]") {
  for (const char* type : {"s8", "u8", "s16", "s32", "u32", "u64", "s64", "pred"}) {
    for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      CheckAgainstReference(Scatter(type, "40", "150,1", "150", kPoints, 20, op),
                            {Draw::kNormal, Draw::kIntegers});
      CheckAgainstReference(Scatter(type, "20,37", "70,1", "70,37", kRows, 10, op), {Draw::kNormal});
    }
  }
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2"}) {
    for (const char* op : {"maximum", "minimum"}) {
      CheckAgainstReference(Scatter(type, "40", "150,1", "150", kPoints, 20, op), kAllDraws);
      CheckAgainstReference(Scatter(type, "20,37", "70,1", "70,37", kRows, 10, op), kAllDraws);
    }
  }
}

TEST_CASE("native scatter: windows that are kept, or moved over", "[native][scatter]") {
  const auto check = [](const std::string& text, const char* type, int parameter) {
    const char* const combiner = parameter == 0 ? R"(to_apply={{ b = {0}[] parameter(1)
 ROOT a = {0}[] parameter(0) }})"
                                                : R"(to_apply={{ a = {0}[] parameter(0)
 ROOT b = {0}[] parameter(1) }})";
    CheckAgainstReference(text.substr(0, text.find("to_apply=")) + fmt::format(fmt::runtime(combiner), type),
                          {Draw::kNormal, Draw::kSpecials});
  };
  for (const char* type : {"f32", "u8", "bf16", "c128"}) {
    for (int parameter : {0, 1}) {
      check(Scatter(type, "40", "150,1", "150", kPoints, 20), type, parameter);
      check(Scatter(type, "20,37", "70,1", "70,37", kRows, 10), type, parameter);
      // Windows that overlap, one behind the other in the updates, or with their elements apart.
      check(Scatter(type, "40", "30,1", "30,5",
                    "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                    "index_vector_dim=1",
                    20),
            type, parameter);
      check(Scatter(type, "40", "30,1", "5,30",
                    "update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                    "index_vector_dim=1",
                    20),
            type, parameter);
    }
  }
}

TEST_CASE("native scatter: a sum is the rational sum, rounded once", "[native][scatter]") {
  constexpr int64_t kUpdates = 901, kTargets = 37;
  for (const char* name : {"f32", "bf16", "f64"}) {
    const ElementType type = *ElementTypeFromName(name);
    int kernels = 0;
    const Plan plan = NativePlan(ReferencePlan(fmt::format(R"(x = {0}[37] parameter(0)
i = u8[901,1] parameter(1)
u = {0}[901] parameter(2)
ROOT z = {0}[37] scatter(x, i, u), {1}, to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {0}[] add(a, b) }})",
                                                           name, kPoints)),
                                 MachineIsa(), &kernels);
    REQUIRE(kernels > 0);
    for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kTies, Draw::kSmall, Draw::kLarge,
                      Draw::kIntegers, Draw::kZeros}) {
      const std::vector<Literal> arguments = DrawnArguments(plan, draw, 5);
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, 2);
      REQUIRE(result.ok());
      for (int64_t target = 0; target < kTargets; ++target) {
        RationalSum sum;
        sum.Add(arguments[0].GetDouble(target));
        for (int64_t i = 0; i < kUpdates; ++i) {
          if (std::to_integer<int64_t>(arguments[1].data()[i]) == target) sum.Add(arguments[2].GetDouble(i));
        }
        INFO(name << " draw " << static_cast<int>(draw) << " target " << target);
        CHECK(SameBits(result->GetDouble(target), sum.Round(type)));
      }
    }
  }
}

}  // namespace assay::testing
