// Programs that run one instruction of another program alone.
#include "check/isolate/site_modules.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "tests/run/program_testing.h"

namespace assay {
namespace {

// Doubles the array limit - 3 times.
constexpr char kDoubling[] = R"(HloModule m
more {
  s = (s32[], s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT is_less = pred[] compare(i, n), direction=LT
}
twice {
  s = (s32[], s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[2] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  sum = f32[2] add(x, x)
  ROOT t = (s32[], s32[], f32[2]) tuple(next, n, sum)
}
ENTRY e {
  limit = s32[] parameter(0)
  x = f32[2] parameter(1)
  three = s32[] constant(3)
  minus_x = f32[2] negate(x)
  state = (s32[], s32[], f32[2]) tuple(three, limit, minus_x)
  ROOT loop = (s32[], s32[], f32[2]) while(state), condition=more, body=twice
})";

struct CountedLoop {
  std::vector<std::pair<int64_t, ValueId>> parameters;
  int64_t num_outputs = 0;
  Program program;
};

CountedLoop CountedLoopOf(const Program& from) {
  const Computation& entry = from.module().entry_computation();
  SiteModule alone(from.module(), "alone");
  alone.AddCountedLoop(/*set=*/7, from.module().entry, ValueSources(entry), entry.root);
  std::vector<std::pair<int64_t, ValueId>> parameters = alone.parameters();
  const int64_t num_outputs = alone.num_outputs();
  absl::StatusOr<Program> program = std::move(alone).Finish();
  INFO(program.status());
  REQUIRE(program.ok());
  return {std::move(parameters), num_outputs, *std::move(program)};
}

TEST_CASE("site modules: a loop alone takes the values of its state, constants as they are", "[isolate]") {
  const CountedLoop loop = CountedLoopOf(ProgramOf(kDoubling));
  using Parameter = std::pair<int64_t, ValueId>;
  CHECK(loop.parameters == std::vector<Parameter>{{7, {.instruction = 0}}, {7, {.instruction = 3}}});
}

TEST_CASE("site modules: a loop alone gives its state and the number of its iterations", "[isolate][while]") {
  const CountedLoop loop = CountedLoopOf(ProgramOf(kDoubling));
  REQUIRE(loop.num_outputs == 4);
  const std::vector<int64_t> sizes = {2};
  for (const int64_t times : {0, 1, 5}) {
    INFO(times << " iterations");
    absl::StatusOr<Literal> result =
        loop.program.Run({Literal::ScalarInt(ElementType::kS32, 3 + times),
                          Literal::FromDoubles(ElementType::kF32, sizes, std::vector<double>{-3, 0.5})});
    INFO(result.status());
    REQUIRE(result.ok());
    REQUIRE(result->tuple_size() == 4);
    CHECK(result->element(0).GetInt(0) == 3 + times);
    CHECK(result->element(1).GetInt(0) == 3 + times);
    CHECK(result->element(2).GetDouble(0) == static_cast<double>(-3 * (1 << times)));
    CHECK(result->element(2).GetDouble(1) == 0.5 * (1 << times));
    CHECK(result->element(3).GetInt(0) == times);
  }
}

// A loop of one value, which counts nothing itself.
TEST_CASE("site modules: the iterations of a loop are counted apart from its state", "[isolate][while]") {
  const CountedLoop loop = CountedLoopOf(ProgramOf(R"(HloModule m
is_small {
  x = f32[] parameter(0)
  limit = f32[] constant(100)
  ROOT is_less = pred[] compare(x, limit), direction=LT
}
triple {
  x = f32[] parameter(0)
  three = f32[] constant(3)
  ROOT product = f32[] multiply(x, three)
}
ENTRY e {
  x = f32[] parameter(0)
  ROOT loop = f32[] while(x), condition=is_small, body=triple
})"));
  REQUIRE(loop.num_outputs == 2);
  const absl::StatusOr<Literal> result = loop.program.Run({Literal::ScalarDouble(ElementType::kF32, 2)});
  INFO(result.status());
  REQUIRE(result.ok());
  CHECK(result->element(0).GetDouble(0) == 162);  // 2 * 3^4
  CHECK(result->element(1).GetInt(0) == 4);
}

}  // namespace
}  // namespace assay
