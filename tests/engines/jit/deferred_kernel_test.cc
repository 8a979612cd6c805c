// Fusions of few elements: their first runs, by members, and those by code give the same.
#include <catch2/catch.hpp>
#include <string>

#include "plan/plan_text.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

const char* const kSmall = R"(HloModule m
ENTRY e {
  x = f32[3,5] parameter(0)
  y = f32[5] parameter(1)
  k = f32[] parameter(2)
  b = f32[3,5] broadcast(y), dimensions={1}
  c = f32[3,5] broadcast(k), dimensions={}
  i = f32[3,5] iota(), iota_dimension=1
  s = f32[3,5] subtract(x, b)
  e = f32[3,5] exponential(s)
  m = f32[3,5] multiply(e, c)
  n = f32[3,5] add(m, m)
  a = f32[3,5] add(n, i)
  d = f32[3,5] multiply(x, c)
  ROOT r = (f32[3,5], f32[3,5]) tuple(a, d)
}
)";

TEST_CASE("late kernel: every run gives the reference's bits and steps", "[jit][fusion]") {
  const Program program = ProgramOf(kSmall);
  const Plan reference = PlanOf(program, EngineChoice::kReference), exact = PlanOf(program);
  CHECK_THAT(PlanToText(exact), Catch::Contains("jit        %a = f32[3,5] add"));
  const std::vector<Literal> arguments = {
      Value("f32[3,5] {{1,2,3,4,5},{-1,-2,-3,-4,-5},{0.5,inf,-inf,nan,-0}}"), Value("f32[5] {1,0.5,2,-3,0}"),
      Value("f32[] 0.25")};
  Executor referee(reference, {});
  const Literal wanted = referee.Run(arguments).value();
  for (int run = 0; run < 60; ++run) {
    Executor executor(exact, {});
    const absl::StatusOr<Literal> result = executor.Run(arguments);
    INFO(run);
    REQUIRE(result.ok());
    CHECK(Literal::BitwiseEqual(*result, wanted));
    CHECK(executor.statistics().steps == referee.statistics().steps);
  }
}

// Enough elements for the charges to be steps: a run by members counts as one by code.
TEST_CASE("late kernel: what is charged does not depend on who runs", "[jit][fusion]") {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  k = f32[] parameter(0)
  b = f32[8000] broadcast(k), dimensions={}
  i = f32[8000] iota(), iota_dimension=0
  p = f32[8000] add(b, i)
  ROOT q = f32[8000] multiply(p, p)
}
)");
  const Plan reference = PlanOf(program, EngineChoice::kReference), exact = PlanOf(program);
  Executor referee(reference, {});
  const Literal wanted = referee.Run({Value("f32[] 3")}).value();
  for (int run = 0; run < 5; ++run) {
    Executor executor(exact, {});
    const absl::StatusOr<Literal> result = executor.Run({Value("f32[] 3")});
    REQUIRE(result.ok());
    CHECK(Literal::BitwiseEqual(*result, wanted));
    CHECK(executor.statistics().steps == referee.statistics().steps);
  }
}

TEST_CASE("late kernel: arguments are not overwritten, values that are needed again stay", "[jit][fusion]") {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] add(x, x)
  b = f32[4] multiply(a, a)
  c = f32[4] subtract(b, x)
  ROOT r = (f32[4], f32[4], f32[4]) tuple(b, c, x)
}
)");
  const Plan exact = PlanOf(program);
  const Literal argument = Value("f32[4] {1, 2, 3, 4}");
  for (int run = 0; run < 100; ++run) {
    Executor executor(exact, {});
    const Literal result = executor.Run({argument}).value();
    CHECK(Literal::BitwiseEqual(result.element(0), Value("f32[4] {4, 16, 36, 64}")));
    CHECK(Literal::BitwiseEqual(result.element(1), Value("f32[4] {3, 14, 33, 60}")));
    CHECK(Literal::BitwiseEqual(argument, Value("f32[4] {1, 2, 3, 4}")));
  }
}

}  // namespace
}  // namespace assay
