// Programs with their calls written out, as text.
#include "plan/inline_calls.h"

#include "evaluator/steps.h"
#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

// "r = add x y; ..." of the entry, in order.
std::string Lines(const Computation& computation) {
  std::string lines;
  for (const Instruction& instruction : computation.instructions) {
    if (!lines.empty()) lines += "; ";
    lines += instruction.name + " = " + std::string(Name(instruction.opcode));
    for (int32_t operand : instruction.operands)
      lines += " " + computation.instructions[static_cast<size_t>(operand)].name;
  }
  return lines;
}

std::shared_ptr<const Module> Inlined(const std::string& text) {
  return InlineCalls(Verified(text).module());
}

const std::string kHalve = R"(
halve {
  v = f32[] parameter(0)
  k = f32[] constant(0.5)
  ROOT m = f32[] multiply(v, k)
}
twice {
  v = f32[] parameter(0)
  h = f32[] call(v), to_apply=halve
  ROOT q = f32[] call(h), to_apply=halve
}
)";

}  // namespace

TEST_CASE("inline calls: bodies in place of calls, at any depth", "[plan]") {
  const auto module = Inlined(kHalve + R"(ENTRY e {
  x = f32[] parameter(0)
  c = f32[] call(x), to_apply=twice
  ROOT r = f32[] negate(c)
})");
  REQUIRE(module != nullptr);
  CHECK(Lines(module->entry_computation()) ==
        "x = parameter; k = constant; m = multiply x k; k = constant; m = multiply m k; r = negate m");
  // Three calls, each a step and its computation another.
  CHECK(module->entry_computation().inlined_steps == 6 * kUnitsPerStep);
  CHECK(module->computations[0].instructions.empty());
  CHECK(module->computations[1].instructions.empty());
}

TEST_CASE("inline calls: a tuple's elements are taken from where they are", "[plan]") {
  const auto module = Inlined(R"(
swap {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT t = (f32[], f32[]) tuple(b, a)
}
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  c = (f32[], f32[]) call(x, y), to_apply=swap
  g = f32[] get-tuple-element(c), index=0
  ROOT r = f32[] negate(g)
})");
  REQUIRE(module != nullptr);
  CHECK(Lines(module->entry_computation()) == "x = parameter; y = parameter; t = tuple y x; r = negate y");
}

TEST_CASE("inline calls: a program without calls stays as it is, and calls that control names stay",
          "[plan]") {
  CHECK(Inlined(R"(ENTRY e { x = f32[] parameter(0)
 ROOT r = f32[] negate(x) })") == nullptr);
  CHECK(Inlined(kHalve + R"(ENTRY e {
  x = f32[] parameter(0)
  n = f32[] negate(x)
  c = f32[] call(x), to_apply=halve, control-predecessors={n}
  ROOT r = f32[] sine(c)
})")
            ->entry_computation()
            .instructions[2]
            .opcode == Opcode::kCall);
}

TEST_CASE("inline calls: a map becomes ops on arrays, calls inside it too", "[plan]") {
  const auto module = Inlined(kHalve + R"(ENTRY e {
  x = f32[3] parameter(0)
  ROOT r = f32[3] map(x), dimensions={0}, to_apply=twice
})");
  REQUIRE(module != nullptr);
  CHECK(Lines(module->entry_computation()) ==
        "x = parameter; k = constant; k = broadcast k; m = multiply x k; k = constant; k = broadcast k; "
        "m = multiply m k");
}

TEST_CASE("inline calls: chains that would grow over the limit keep calls", "[plan]") {
  // Each computation calls the one before twice: 2^30 instructions if all were written out.
  std::string text = R"(c0 { v = f32[] parameter(0)
 ROOT r = f32[] negate(v) }
)";
  for (int i = 1; i <= 30; ++i) {
    text += "c" + std::to_string(i) + R"( { v = f32[] parameter(0)
 a = f32[] call(v), to_apply=c)" +
            std::to_string(i - 1) + "\n ROOT r = f32[] call(a), to_apply=c" + std::to_string(i - 1) + " }\n";
  }
  const auto module = Inlined(text + R"(ENTRY e { x = f32[] parameter(0)
 ROOT r = f32[] call(x), to_apply=c30 })");
  REQUIRE(module != nullptr);
  size_t size = 0;
  for (const Computation& computation : module->computations) size += computation.instructions.size();
  CHECK(size <= 1 << 13);
}

TEST_CASE("inline_calls: sharding annotations are left out, and counted", "[inlining][sharding]") {
  const auto module = Inlined(R"(ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] custom-call(a), custom_call_target="Sharding", sharding={devices=[2]<=[2]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<mesh<[\"x\"=2]>, [{}]>]>"}
  c = f32[4] custom-call(b), custom_call_target="xla.sdy.PropagationBarrier", custom_call_has_side_effect=true
  d = f32[4] negate(c)
  t = f32[4] custom-call(d), custom_call_target="Sharding", sharding={devices=[2]<=[2]}
  ROOT r = f32[4] custom-call(t), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true
})");
  REQUIRE(module != nullptr);
  CHECK(Lines(module->entry_computation()) == "x = parameter; a = negate x; d = negate a; t = custom-call d");
  CHECK(module->entry_computation().root == 3);
  // Each is a step, and four elements of work.
  CHECK(*module->entry_computation().inlined_steps == 3 * (kUnitsPerStep + 4));
}

}  // namespace assay::testing
