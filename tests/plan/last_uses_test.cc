// When values are freed.
#include "plan/last_uses.h"

#include "tests/plan/pass_testing.h"

namespace assay::testing {

TEST_CASE("last uses: the last reader frees, an operand that it reads twice once, the root is never freed",
          "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  unread = f32[4] parameter(2)
  a = f32[4] add(x, y)
  b = f32[4] multiply(a, a)
  c = f32[4] subtract(b, x)
  ROOT r = (f32[4], f32[4]) tuple(c, b)
})");
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  MarkLastUses(entry, plan);
  const auto frees = [&](std::string_view name) { return StepOf(entry, plan, name).last_use; };
  CHECK(frees("a") == OperandFlags{false, true});  // c reads x
  CHECK(frees("b") == OperandFlags{false, true});  // the second reading
  CHECK(frees("c") == OperandFlags{false, true});  // r reads b
  CHECK(frees("r") == OperandFlags{true, true});
  CHECK(plan.parameter_used == std::vector<bool>{true, true, false});
  for (const Step& step : plan.steps) CHECK(step.result_used);
}

TEST_CASE("last uses: constants, loop-invariant results and the state that is passed on stay", "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[4] parameter(0)
  k = f32[4] constant({1, 2, 3, 4})
  a = f32[4] add(x, k)
  b = f32[4] multiply(a, x)
  ROOT r = f32[4] negate(b)
})");
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  plan.constants = {1};
  plan.loop_invariants = {2};
  plan.state.outputs = {{.element = 0, .slot = 3}};
  plan.state.inputs = {{.element = 0, .slot = 0}, {.element = 1, .slot = 4}};
  MarkLastUses(entry, plan);
  CHECK(StepOf(entry, plan, "a").last_use == OperandFlags{false, false});
  CHECK(StepOf(entry, plan, "b").last_use == OperandFlags{false, true});
  CHECK(StepOf(entry, plan, "r").last_use == OperandFlags{false});
}

TEST_CASE("last uses: an effect's result that nobody reads, an input of the state that nobody reads",
          "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[] parameter(0)
  k = token[] after-all()
  o = token[] outfeed(x, k), outfeed_shape=f32[]
  ROOT r = f32[] constant(1)
})");
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  plan.state.inputs = {{.element = 0, .slot = 1}, {.element = 1, .slot = 2}};
  MarkLastUses(entry, plan);
  CHECK_FALSE(StepOf(entry, plan, "o").result_used);
  CHECK(StepOf(entry, plan, "k").result_used);
  REQUIRE(plan.state.inputs.size() == 1);  // slot 2, o's, is read by nobody
  CHECK(plan.state.inputs[0].slot == 1);
}

}  // namespace assay::testing
