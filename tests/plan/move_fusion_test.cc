// Concatenates that read through slices and reshapes: which they join, and the reference's values and steps.
#include "plan/move_fusion.h"

#include <catch2/catch.hpp>
#include <string>

#include "run/inputs/random_inputs.h"
#include "tests/run/outcome_testing.h"

namespace assay {
namespace {

const std::string kArrays =
    R"(x = f32[6,8] parameter(0)
y = f32[3,8] parameter(1)
z = f32[24] parameter(2)
)";

// The steps of the exact engine's plan behind "ROOT ", each "root: members"; values and steps are checked.
std::string StepsOf(const std::string& body) {
  const std::string text = R"(HloModule m
ENTRY e {
)" + kArrays + body + "}\n";
  INFO(text);
  const Program program = ProgramOf(text);
  const std::vector<Literal> inputs = RandomInputs(program.verified(), 3).value();
  const Outcome wanted = RunBy(EngineChoice::kReference, text, inputs);
  for (Crosscheck crosscheck : {Crosscheck::kOff, Crosscheck::kFull}) {
    const Outcome found = RunBy(EngineChoice::kExact, text, inputs, {.crosscheck = crosscheck});
    INFO(found.plan << found.result.status());
    REQUIRE(found.result.ok());
    CHECK(Literal::BitwiseEqual(*found.result, *wanted.result));
    if (crosscheck == Crosscheck::kOff) CHECK(found.statistics.steps == wanted.statistics.steps);
  }
  const Plan plan = PlanOf(program);
  const Computation& entry = plan.module->entry_computation();
  std::string steps;
  for (const Step& step : plan.computations.back().steps) {
    steps += entry.instructions[step.instruction].name + ":";
    for (size_t m = 0; step.fusion != nullptr && m + 1 < step.fusion->members.size(); ++m)
      steps += " " + entry.instructions[step.fusion->members[m]].name;
    steps += "; ";
  }
  return steps;
}

TEST_CASE("move fusion: slices along and across the concatenated dimension, strided ones too",
          "[move_fusion]") {
  CHECK(StepsOf(R"(a = f32[2,8] slice(x), slice={[1:3], [0:8]}
b = f32[3,8] slice(x), slice={[0:6:2], [0:8]}
ROOT r = f32[8,8] concatenate(a, y, b), dimensions={0}
)") == "r: a b; ");
  CHECK(StepsOf(R"(a = f32[3,2] slice(x), slice={[0:6:2], [3:7:3]}
b = f32[3,5] slice(y), slice={[0:3], [1:6]}
ROOT r = f32[3,7] concatenate(a, b), dimensions={1}
)") == "r: a b; ");
}

TEST_CASE("move fusion: one slice for two concatenates, reshapes", "[move_fusion]") {
  CHECK(StepsOf(R"(a = f32[8] slice(z), slice={[0:8]}
b = f32[8] slice(z), slice={[8:16]}
c = f32[8] slice(z), slice={[16:24]}
p = f32[16] concatenate(a, b), dimensions={0}
q = f32[16] concatenate(c, a), dimensions={0}
ROOT r = f32[16] subtract(p, q)
)") == "p: a b; q: a c; r:; ");
  CHECK(StepsOf(R"(a = f32[3,8] reshape(z)
ROOT r = f32[6,8] concatenate(a, a), dimensions={0}
)") == "r: a; ");
}

TEST_CASE("move fusion: what is needed elsewhere stays a step, and nobody overwrites what is read",
          "[move_fusion]") {
  CHECK(StepsOf(R"(a = f32[8] slice(z), slice={[0:8]}
n = f32[8] reverse(a), dimensions={0}
ROOT r = f32[16] concatenate(a, n), dimensions={0}
)") == "a:; n:; r: a; ");
  CHECK(StepsOf(R"(t = f32[24] tanh(z)
a = f32[8] slice(t), slice={[3:11]}
n = f32[24] negate(t)
ROOT r = f32[32] concatenate(n, a), dimensions={0}
)") == "t:; n:; r: a; ");
}

TEST_CASE("move fusion: none without a slice, of a small part of an array, or where control says when",
          "[move_fusion]") {
  CHECK(StepsOf("ROOT r = f32[9,8] concatenate(x, y), dimensions={0}\n") == "r:; ");
  CHECK(StepsOf(R"(a = f32[2] slice(z), slice={[3:5]}
ROOT r = f32[26] concatenate(a, z), dimensions={0}
)") == "a:; r:; ");
  CHECK(StepsOf(R"(a = f32[8] slice(z), slice={[0:8]}
n = f32[24] negate(z), control-predecessors={a}
ROOT r = f32[32] concatenate(a, n), dimensions={0}
)") == "a:; n:; r:; ");
}

}  // namespace
}  // namespace assay
