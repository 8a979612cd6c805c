// Steps that only give the program its structure, and what becomes of their counts.
#include "plan/structure.h"

#include "evaluator/steps.h"
#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

int64_t StepUnitsOfAll(const ComputationPlan& plan) {
  int64_t counts = plan.step_units;
  for (const Step& step : plan.steps) counts = AddUnits(counts, step.step_units);
  return counts;
}

}  // namespace

TEST_CASE("structure: constants, the state's projections and the packed root become data", "[plan]") {
  const VerifiedModule verified = Verified(R"(
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  b = f32[4] negate(a)
  ROOT r = (s32[], f32[4]) tuple(j, b)
}
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = (s32[], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4]) while(x), condition=condition, body=body
})");
  const Computation& body = Named(verified.module(), "body");
  ComputationPlan plan = Ordered(verified.module(), body);
  const int64_t before = StepUnitsOfAll(plan);
  TakeStructure(body, plan);
  CHECK(Steps(body, plan) == "j b");
  CHECK(Names(body, plan.constants) == "one");
  REQUIRE(plan.state.unpacked);
  REQUIRE(plan.state.packed);
  REQUIRE(plan.state.inputs.size() == 2);
  CHECK(Names(body, {plan.state.inputs[0].slot, plan.state.inputs[1].slot}) == "i a");
  REQUIRE(plan.state.outputs.size() == 2);
  CHECK(Names(body, {plan.state.outputs[0].slot, plan.state.outputs[1].slot}) == "j b");
  CHECK(plan.state.unchanged == std::vector<bool>{false, false});
  CHECK(StepUnitsOfAll(plan) == before);
}

TEST_CASE("structure: other tuples are the executor's own steps, unread ones go", "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[4] parameter(0)
  k = token[] after-all()
  t = (f32[4], token[]) tuple(x, k)
  b = (f32[4], token[]) opt-barrier(t)
  g = f32[4] get-tuple-element(b), index=0
  ROOT r = f32[4] negate(g)
})");
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  const int64_t before = StepUnitsOfAll(plan);
  TakeStructure(entry, plan);
  CHECK(Steps(entry, plan) == "k t b g r");
  CHECK(StepOf(entry, plan, "t").kind == StepKind::kTuple);
  CHECK(StepOf(entry, plan, "g").kind == StepKind::kGetTupleElement);
  CHECK(StepOf(entry, plan, "g").element == 0);
  CHECK(StepOf(entry, plan, "r").kind == StepKind::kEvaluate);
  // Inlining leaves tuples whose elements everybody takes from where they were.
  Computation inlined = entry;
  inlined.instructions[4].operands = {0};
  inlined.instructions[4].opcode = Opcode::kCopy;
  inlined.inlined_steps = 3 * kUnitsPerStep;
  inlined.instructions[3].opcode = Opcode::kTuple;
  inlined.instructions[3].operands = inlined.instructions[2].operands;
  ComputationPlan left = Ordered(verified.module(), entry);
  TakeStructure(inlined, left);
  CHECK(Steps(inlined, left) == "k g r");
  CHECK(StepUnitsOfAll(left) == AddUnits(before, 3 * kUnitsPerStep));
}

}  // namespace assay::testing
