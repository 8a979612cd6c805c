// Cumulative sums of f32 against running sums by MPFR.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"
#include "tests/engines/native/sums/wide_sums.h"

namespace assay::testing {
namespace {

std::string Cumulative(int64_t rows, int64_t n, bool backward) {
  return fmt::format(
      R"(x = f32[{0},{1}] parameter(0)
i = f32[] parameter(1)
ROOT z = f32[{0},{1}] reduce-window(x, i), window={{size=1x{1} pad=0_0x{2}}}, to_apply={{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }})",
      rows, n, backward ? fmt::format("0_{}", n - 1) : fmt::format("{}_0", n - 1));
}

void CheckPrefixes(int64_t rows, int64_t n, bool backward, const std::vector<double>& x, double init) {
  std::vector<uint32_t> wanted(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    WideSums sum(1);
    sum.Add(0, static_cast<float>(init));
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(r * n + (backward ? n - 1 - i : i));
      sum.Add(0, static_cast<float>(x[at]));
      wanted[at] = sum.Bits(0);
    }
  }
  const Plan reference = ReferencePlan(Cumulative(rows, n, backward));
  const std::vector<int64_t> sizes{rows, n};
  const std::vector<Literal> arguments{Literal::FromDoubles(ElementType::kF32, sizes, x),
                                       Literal::ScalarDouble(ElementType::kF32, init)};
  for (Isa isa : MachineIsas()) {
    int kernels = 0;
    const Plan plan = NativePlan(reference, isa, &kernels);
    REQUIRE(RootHasKernel(plan));
    for (int jobs : {1, 2, 7}) {
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, jobs);
      REQUIRE(result.ok());
      int64_t wrong = 0;
      for (size_t i = 0; i < wanted.size(); ++i)
        wrong += std::memcmp(result->data() + 4 * i, &wanted[i], 4) != 0 ? 1 : 0;
      INFO("rows " << rows << " n " << n << " backward " << backward << " init " << init
                   << " instruction set " << static_cast<int>(isa) << " jobs " << jobs);
      CHECK(wrong == 0);
    }
  }
}

std::vector<double> DrawnDoubles(int64_t n, Draw draw, uint64_t seed) {
  Drawer drawer(draw, *Info(ElementType::kF32).format, seed);
  std::vector<double> values(static_cast<size_t>(n));
  for (double& value : values) value = drawer.Next();
  return values;
}

}  // namespace

TEST_CASE("native cumulative sums: against MPFR", "[native][window]") {
  for (bool backward : {false, true}) {
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{1, 32},
                                  {3, 33},
                                  {1, 4095},
                                  {2, 4097},
                                  {1, 12289},
                                  {1, 70001},
                                  {40, 999}}) {
      for (Draw draw : kAllDraws) {
        if (n > 5000 && draw != Draw::kNormal && draw != Draw::kCancelling && draw != Draw::kTies) continue;
        INFO("draw " << static_cast<int>(draw));
        CheckPrefixes(rows, n, backward, DrawnDoubles(rows * n, draw, static_cast<uint64_t>(n)), 0);
      }
    }
  }
}

TEST_CASE("native cumulative sums: start values, zeros and sums that grow", "[native][window]") {
  for (bool backward : {false, true}) {
    for (double init : {1.5, -0.0, 1e30, 1e-40, HUGE_VAL, std::nan("")})
      CheckPrefixes(1, 5000, backward, DrawnDoubles(5000, Draw::kNormal, 1), init);
    CheckPrefixes(1, 5000, backward, DrawnDoubles(5000, Draw::kZeros, 2), -0.0);
    CheckPrefixes(1, 5000, backward, std::vector<double>(5000, -0.0), 0.0);
    // Of one sign: the sums pass every power of two, and at last what the integers hold.
    std::vector<double> positive = DrawnDoubles(70001, Draw::kNormal, 3);
    for (double& x : positive) x = std::fabs(x);
    CheckPrefixes(1, 70001, backward, positive, 0);
    for (double smallest : {0x1p-27, 0x1p-33, 0x1p-60}) {
      for (size_t i = 0; i < positive.size(); ++i) positive[i] = i % 1000 == 0 ? smallest : 0x1.fffffep+0;
      CheckPrefixes(1, 70001, backward, positive, 0);
    }
    // Ties that something far below decides.
    for (double tiny : {0x1p-50, -0x1p-50}) {
      std::vector<double> ties(3000, 1.0);
      ties[backward ? ties.size() - 1 : 0] = tiny;
      CheckPrefixes(1, 3000, backward, ties, 0x1p24);
    }
    // Sums that leave f32's range and come back.
    std::vector<double> large(6000, 0x1p127);
    for (size_t i = 3000; i < large.size(); ++i) large[i] = -0x1p127;
    CheckPrefixes(1, 6000, backward, large, 0);
  }
}

}  // namespace assay::testing
