// Large broadcasts that reduces and slices read through: values, what is left of them in the plan,
// and memory.
#include "plan/broadcast_fusion.h"

#include <catch2/catch.hpp>

#include "plan/plan_text.h"
#include "tests/run/outcome_testing.h"

namespace assay {
namespace {

// `body` reads b, f32[3,100000,4], of x, f32[3,4].
std::string ProgramWith(const std::string& body) {
  return R"(HloModule m
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
least {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] minimum(p, q)
}
product {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] multiply(p, q)
}
ENTRY e {
  x = f32[3,4] parameter(0)
  z = f32[] parameter(1)
  i = s32[] constant(1)
  b = f32[3,100000,4] broadcast(x), dimensions={0,2}
)" + body +
         "}\n";
}

const std::vector<Literal> XAndInit() {
  return {Value("f32[3,4] {{1, 0x1.000002p0, 0.1, 3}, {-0, 1e-40, 7, -2.5}, {1e30, 5, 6, 1e-3}}"),
          Value("f32[] 0.75")};
}

}  // namespace

TEST_CASE("broadcast fusion: each reader gives the reference's values and needs no room for the broadcast",
          "[broadcast_fusion]") {
  for (const std::string body : {
           "ROOT r = f32[3,4] reduce(b, z), dimensions={1}, to_apply=add\n",
           "ROOT r = f32[100000] reduce(b, z), dimensions={0,2}, to_apply=add\n",
           "ROOT r = f32[3] reduce(b, z), dimensions={1,2}, to_apply=add\n",
           "ROOT r = f32[4] reduce(b, z), dimensions={0,1}, to_apply=add\n",
           "ROOT r = f32[] reduce(b, z), dimensions={0,1,2}, to_apply=add\n",
           "ROOT r = f32[3,4] reduce(b, z), dimensions={1}, to_apply=least\n",
           "ROOT r = f32[100000] reduce(b, z), dimensions={0,2}, to_apply=least\n",
           "ROOT r = f32[] reduce(b, z), dimensions={0,1,2}, to_apply=least\n",
           "ROOT r = f32[3,4] reduce(b, z), dimensions={1}, to_apply=product\n",
           "ROOT r = f32[3] reduce(b, z), dimensions={1,2}, to_apply=product\n",
           "ROOT r = f32[2,50,2] slice(b), slice={[1:3], [7:100000:2000], [0:4:2]}\n",
           "ROOT r = f32[2,50,2] dynamic-slice(b, i, i, i), dynamic_slice_sizes={2,50,2}\n",
           "s = f32[3,50,4] slice(b), slice={[0:3], [50:100], [0:4]}\n"
           "ROOT r = f32[3,50,4] multiply(s, s)\n",
       }) {
    const std::string program = ProgramWith(body);
    const Outcome reference = RunBy(EngineChoice::kReference, program, XAndInit());
    RunOptions little;
    little.limits.memory_limit = 500'000;
    const Outcome exact = RunBy(EngineChoice::kExact, program, XAndInit(), little);
    INFO(body << exact.plan << reference.result.status() << exact.result.status());
    REQUIRE(reference.result.ok());
    REQUIRE(exact.result.ok());
    CHECK(Literal::BitwiseEqual(*reference.result, *exact.result));
    CHECK(reference.statistics.steps == exact.statistics.steps);
    CHECK(reference.statistics.parts == exact.statistics.parts);
    CHECK_THAT(exact.plan, Catch::Contains("fused: %b"));
    CHECK_THAT(exact.plan, !Catch::Contains("%b = "));
  }
}

TEST_CASE("broadcast fusion: not of small broadcasts, nor where something else needs them",
          "[broadcast_fusion]") {
  const std::string reduce = "  s = f32[3,4] reduce(b, z), dimensions={1}, to_apply=add\n";
  const auto plan_of = [](const std::string& text) { return PlanToText(PlanOf(text)); };
  CHECK_THAT(plan_of(ProgramWith(reduce + "ROOT r = (f32[3,4], f32[3,100000,4]) tuple(s, b)\n")),
             Catch::Contains("%b = "));
  std::string small = ProgramWith(reduce + "ROOT r = f32[3,4] negate(s)\n");
  for (size_t at; (at = small.find("100000")) != std::string::npos;) small.replace(at, 6, "100");
  CHECK_THAT(plan_of(small), Catch::Contains("%b = "));
}

}  // namespace assay
