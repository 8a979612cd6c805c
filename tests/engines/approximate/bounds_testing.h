// Programs run by an engine of --engine fast. The judge is the cross-check `full`: every element within the
// bound that its kernel states of the exact sum of its own terms.
#ifndef ASSAY_TESTS_ENGINES_APPROXIMATE_BOUNDS_TESTING_H_
#define ASSAY_TESTS_ENGINES_APPROXIMATE_BOUNDS_TESTING_H_

#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "plan/plan_text.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {

// One engine alone, as a list that outlives the test.
template <const Engine& (*kEngineOf)(Isa)>
std::span<const Engine* const> Only(Isa isa) {
  static std::array<std::array<const Engine*, 1>, 3> engines;
  std::array<const Engine*, 1>& of_isa = engines[static_cast<size_t>(isa)];
  of_isa[0] = &kEngineOf(isa);
  return of_isa;
}

inline Plan PlanBy(std::span<const Engine* const> engines, const std::string& body) {
  return PlanOf(ProgramOf(R"(HloModule m
ENTRY e {
)" + body + "\n}\n"),
                engines);
}

// Whether the entry's last step is the engine's.
inline bool IsTakenBy(const Plan& plan, std::string_view engine) {
  const Step& last = plan.computations.back().steps.back();
  return last.engine != nullptr && last.engine->name() == engine;
}

// `body` is one dot or convolution, which the engine of this name takes; with 1, 2 and 7 threads.
inline void CheckWithinBounds(std::span<const Engine* const> engines, std::string_view name,
                              const std::string& body, std::initializer_list<Draw> draws) {
  const Plan plan = PlanBy(engines, body);
  INFO(PlanToText(plan));
  REQUIRE(IsTakenBy(plan, name));
  for (Draw draw : draws) {
    const std::vector<Literal> arguments = DrawnArguments(plan, draw, 3 + static_cast<uint64_t>(draw));
    for (int jobs : {1, 2, 7}) {
      Executor executor(plan, {.jobs = jobs, .crosscheck = Crosscheck::kFull});
      const absl::StatusOr<Literal> result = executor.Run(arguments);
      INFO("draw " << static_cast<int>(draw) << ", jobs " << jobs << ": " << result.status().message());
      CHECK(result.ok());
      CHECK(executor.statistics().crosschecked == 1);
    }
  }
}

// x[m,k] y[k,n]; a bit of `sides` swaps the dimensions of an operand, 1 of x and 2 of y.
inline std::string DotOf(std::string_view in, std::string_view out, int m, int k, int n, int sides) {
  const bool left = (sides & 1) != 0, right = (sides & 2) != 0;
  return fmt::format(
      R"(x = {0}[{2},{3}] parameter(0)
y = {0}[{4},{5}] parameter(1)
ROOT r = {1}[{6},{7}] dot(x, y), lhs_contracting_dims={{{8}}}, rhs_contracting_dims={{{9}}})",
      in, out, left ? k : m, left ? m : k, right ? n : k, right ? k : n, m, n, left ? 0 : 1, right ? 1 : 0);
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_APPROXIMATE_BOUNDS_TESTING_H_
