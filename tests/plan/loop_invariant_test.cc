// What gives the same in each iteration of a loop.
#include "plan/loop_invariant.h"

#include "plan/structure.h"
#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

// "p q | q": the loop-invariant steps of a body, and those whose results stay; `rest` gives c,
// a's next value, from i, a and b.
std::string InvariantsOf(const std::string& rest, ComputationPlan* given = nullptr,
                         const std::string& computations = "") {
  const VerifiedModule verified = Verified(computations + R"(
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
  FindLoopInvariants(LoopFacts(verified.module()), body, plan);
  std::vector<int32_t> found;
  for (const Step& step : plan.steps) {
    if (step.loop_invariant) found.push_back(step.instruction);
  }
  const std::string names = Names(body, found) + " | " + Names(body, plan.loop_invariants);
  if (given != nullptr) *given = std::move(plan);
  return names;
}

const char* const kAdd = R"(
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
})";

}  // namespace

TEST_CASE("loop invariants: what reads constants, unchanged state and other invariants", "[plan]") {
  ComputationPlan plan;
  CHECK(InvariantsOf(R"(  p = f32[8] sine(b)
  q = f32[8] add(p, b)
  c = f32[8] add(a, q))",
                     &plan) == "p q | q");
  // Of the sum's operands the second is the same in each iteration.
  const Step& sum = plan.steps.back();
  CHECK(sum.unchanged == OperandFlags{false, true});
  CHECK(InvariantsOf(R"(  p = f32[8] sine(a)
  c = f32[8] add(p, b))") == " | ");
  CHECK(InvariantsOf(R"(  k = f32[] constant(2)
  p = f32[8] broadcast(k), dimensions={}
  c = f32[8] multiply(a, p))") == "p | p");
}

TEST_CASE("loop invariants: what calls computations without effects, loops too", "[plan]") {
  CHECK(InvariantsOf(R"(  z = f32[] constant(0)
  p = f32[] reduce(b, z), dimensions={0}, to_apply=add
  q = f32[8] broadcast(p), dimensions={}
  c = f32[8] add(a, q))",
                     nullptr, kAdd) == "p q | q");
  const std::string loop = R"(
same {
  ROOT s = (f32[8]) parameter(0)
}
once {
  s = (f32[8]) parameter(0)
  ROOT f = pred[] constant(false)
}
draws {
  s = (f32[8]) parameter(0)
  z = f32[] constant(0)
  o = f32[] constant(1)
  r = f32[8] rng(z, o), distribution=rng_uniform
  ROOT t = (f32[8]) tuple(r)
})";
  CHECK(InvariantsOf(R"(  u = (f32[8]) tuple(b)
  w = (f32[8]) while(u), condition=once, body=same
  p = f32[8] get-tuple-element(w), index=0
  c = f32[8] add(a, p))",
                     nullptr, loop) == "u w p | p");
  CHECK(InvariantsOf(R"(  u = (f32[8]) tuple(b)
  w = (f32[8]) while(u), condition=once, body=draws
  p = f32[8] get-tuple-element(w), index=0
  c = f32[8] add(a, p))",
                     nullptr, loop) == "u | u");
}

TEST_CASE("loop invariants: nothing of other devices", "[plan]") {
  CHECK(InvariantsOf(R"(  p = f32[8] all-reduce(b), replica_groups={}, to_apply=add
  q = f32[8] negate(p)
  c = f32[8] add(a, q))",
                     nullptr, kAdd) == " | ");
}

TEST_CASE("loop invariants: elements in two get-tuple-elements, and what a condition reads", "[plan]") {
  const VerifiedModule verified = Verified(std::string(kAdd) + R"(
body {
  s = (f32[], f32[8]) parameter(0)
  a = f32[] get-tuple-element(s), index=0
  b = f32[8] get-tuple-element(s), index=1
  b2 = f32[8] get-tuple-element(s), index=1
  p = f32[8] sine(b2)
  z = f32[] constant(1)
  c = f32[] reduce(p, a), dimensions={0}, to_apply=add
  ROOT r = (f32[], f32[8]) tuple(c, b)
}
condition {
  s = (f32[], f32[8]) parameter(0)
  a = f32[] get-tuple-element(s), index=0
  b = f32[8] get-tuple-element(s), index=1
  z = f32[] constant(100)
  m = f32[] reduce(b, z), dimensions={0}, to_apply=add
  ROOT l = pred[] compare(a, m), direction=LT
}
ENTRY e {
  x = (f32[], f32[8]) parameter(0)
  ROOT w = (f32[], f32[8]) while(x), condition=condition, body=body
})");
  const LoopFacts facts(verified.module());
  for (const auto& [name, invariants] : {std::pair("body", "p"), std::pair("condition", "m")}) {
    const Computation& computation = Named(verified.module(), name);
    CHECK(facts.UnchangedElements(computation) == std::vector<bool>{false, true});
    ComputationPlan plan = Ordered(verified.module(), computation);
    TakeStructure(computation, plan);
    FindLoopInvariants(facts, computation, plan);
    CHECK(Names(computation, plan.loop_invariants) == invariants);
  }
}

TEST_CASE("loop invariants: fusions of every iteration leave them alone, but for what is an index away",
          "[plan]") {
  const VerifiedModule verified = Verified(R"(
body {
  s = (f32[8], f32[8], f32[]) parameter(0)
  a = f32[8] get-tuple-element(s), index=0
  b = f32[8] get-tuple-element(s), index=1
  k = f32[] get-tuple-element(s), index=2
  p = f32[8] sine(b)
  q = f32[8] cosine(p)
  n = f32[] negate(k)
  v = f32[8] broadcast(n), dimensions={}
  m = f32[8] multiply(q, v)
  c = f32[8] add(a, m)
  ROOT r = (f32[8], f32[8], f32[]) tuple(c, b, k)
}
condition {
  s = (f32[8], f32[8], f32[]) parameter(0)
  ROOT l = pred[] constant(false)
}
ENTRY e {
  x = (f32[8], f32[8], f32[]) parameter(0)
  ROOT w = (f32[8], f32[8], f32[]) while(x), condition=condition, body=body
})");
  const Computation& body = Named(verified.module(), "body");
  const std::vector<bool> live(body.instructions.size(), true);
  const std::vector<bool> worth = LoopFacts(verified.module()).WorthAStep(body, live);
  std::vector<int32_t> found;
  for (size_t i = 0; i < worth.size(); ++i) {
    if (worth[i]) found.push_back(static_cast<int32_t>(i));
  }
  CHECK(Names(body, found) == "p q n m");
}

TEST_CASE("loop invariants: not what has effects, is ordered by control, or would stay and is over 1 GiB",
          "[plan]") {
  CHECK(InvariantsOf(R"(  z = f32[] constant(0)
  o = f32[] constant(1)
  p = f32[8] rng(z, o), distribution=rng_uniform
  c = f32[8] add(a, p))") == " | ");
  CHECK(InvariantsOf(R"(  p = f32[8] sine(b), control-predecessors={j}
  c = f32[8] add(a, p))") == " | ");
  // Half a GiB each: there is room for m, and for none that it is made of, which has to be there in each
  // iteration.
  CHECK(InvariantsOf(R"(  k = f32[] constant(2)
  p = f32[134217728] broadcast(k), dimensions={}
  q = f32[134217728] sine(p)
  m = f32[134217729] pad(q, k), padding=0_1
  n = f32[8] dynamic-slice(m, i), dynamic_slice_sizes={8}
  o = f32[8] dynamic-slice(q, i), dynamic_slice_sizes={8}
  d = f32[8] add(n, o)
  c = f32[8] add(a, d))") == "m | m");
}

}  // namespace assay::testing
