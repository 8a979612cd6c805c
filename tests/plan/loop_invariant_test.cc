// What gives the same in each turn of a loop.
#include "plan/loop_invariant.h"

#include "plan/structure.h"
#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

// The loop-invariant steps of a body; `rest` gives j, the counter's next value, from i, a and b, of which a changes.
std::string InvariantsOf(const std::string& rest, ComputationPlan* given = nullptr) {
  const VerifiedModule verified = Verified(R"(
body {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
)" + rest + R"(
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, c, b)
}
condition {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = (s32[], f32[8], f32[8]) parameter(0)
  ROOT w = (s32[], f32[8], f32[8]) while(x), condition=condition, body=body
})");
  const Computation& body = Named(verified.module(), "body");
  ComputationPlan plan = Ordered(verified.module(), body);
  TakeStructure(body, plan);
  FindLoopInvariants(body, plan);
  std::vector<int32_t> found;
  for (const Step& step : plan.steps) {
    if (step.loop_invariant) found.push_back(step.instruction);
  }
  CHECK(found == plan.loop_invariants);
  const std::string names = Names(body, found);
  if (given != nullptr) *given = std::move(plan);
  return names;
}

}  // namespace

TEST_CASE("loop invariants: what reads constants, unchanged state and other invariants", "[plan]") {
  ComputationPlan plan;
  CHECK(InvariantsOf(R"(  p = f32[8] sine(b)
  q = f32[8] add(p, b)
  c = f32[8] add(a, q))",
                     &plan) == "p q");
  // Of the sum's operands the second is the same in each turn.
  const Step& sum = plan.steps.back();
  CHECK(sum.unchanged == OperandFlags{false, true});
  CHECK(InvariantsOf(R"(  p = f32[8] sine(a)
  c = f32[8] add(p, b))")
            .empty());
  CHECK(InvariantsOf(R"(  k = f32[] constant(2)
  p = f32[8] broadcast(k), dimensions={}
  c = f32[8] multiply(a, p))") == "p");
}

TEST_CASE("loop invariants: not what has effects, is ordered by control, or is over 1 MiB in all", "[plan]") {
  CHECK(InvariantsOf(R"(  z = f32[] constant(0)
  o = f32[] constant(1)
  p = f32[8] rng(z, o), distribution=rng_uniform
  c = f32[8] add(a, p))")
            .empty());
  CHECK(InvariantsOf(R"(  p = f32[8] sine(b), control-predecessors={j}
  c = f32[8] add(a, p))")
            .empty());
  // 262144 floats are 1 MiB: there is room for one, not for a second.
  CHECK(InvariantsOf(R"(  k = f32[] constant(2)
  p = f32[262144] broadcast(k), dimensions={}
  q = f32[262144] sine(p)
  m = f32[8] slice(q), slice={[0:8]}
  c = f32[8] add(a, m))") == "p");
}

}  // namespace assay::testing
