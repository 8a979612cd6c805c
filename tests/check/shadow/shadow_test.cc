// Shadow evaluation: errors worked out by hand.
#include "check/shadow/shadow.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace assay::testing {
namespace {

ShadowReport Shadowed(const std::string& text, std::vector<Literal> arguments = {}) {
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  DeviceInputs inputs;
  inputs.arguments = std::move(arguments);
  const absl::StatusOr<ShadowReport> report = RunShadow(*program, inputs, RunOptions());
  INFO(report.status());
  REQUIRE(report.ok());
  return *report;
}

const ShadowInstruction& Of(const ShadowReport& report, const std::string& name) {
  for (const ShadowInstruction& instruction : report.instructions) {
    if (instruction.name == name) return instruction;
  }
  FAIL("no instruction " << name);
  return report.instructions[0];
}

}  // namespace

TEST_CASE("shadow: (1e8 + 1) - 1e8 loses its one", "[check][shadow]") {
  // Floats near 1e8 are 8 apart: the sum is rounded back to 1e8, by an eighth of an ulp;
  // the difference is 0, exactly 1.
  const ShadowReport report = Shadowed(R"(ENTRY e { big = f32[] constant(1e8)
  one = f32[] constant(1)
  sum = f32[] add(big, one)
  ROOT rest = f32[] subtract(sum, big) })");
  CHECK(Of(report, "sum").local_ulps == 0.125);
  CHECK(Of(report, "sum").inherited_ulps == 0);
  CHECK(Of(report, "rest").local_ulps == 0);
  CHECK(Of(report, "rest").inherited_ulps == std::ldexp(1, 149));
  CHECK(Of(report, "rest").cancelled_digits == Approx(24 * std::log10(2.0)));
  CHECK(Of(report, "sum").share == Approx(1));
  CHECK(Of(report, "rest").share == -1);
}

TEST_CASE("shadow: what is not cancelled", "[check][shadow]") {
  // 1.5 - 1 = 0.5: one binary digit.
  const ShadowReport report = Shadowed(R"(ENTRY e { a = f32[] constant(1.5)
  b = f32[] constant(1)
  ROOT d = f32[] subtract(a, b) })");
  CHECK(Of(report, "d").cancelled_digits == Approx(std::log10(2.0)));
  CHECK(report.outputs[0].error_ulps == 0);
}

TEST_CASE("shadow: shares of two roundings", "[check][shadow]") {
  // 1/3 is off by 1/3 ulp of 2^-25, times 3 of it: 2^-25. 1e8 + 1 by one.
  const ShadowReport report = Shadowed(R"(ENTRY e { big = f32[] constant(1e8)
  one = f32[] constant(1)
  three = f32[] constant(3)
  sum = f32[] add(big, one)
  third = f32[] divide(one, three)
  rest = f32[] subtract(sum, big)
  ROOT y = f32[] add(rest, third) })");
  CHECK(Of(report, "sum").share == Approx(1).epsilon(1e-6));
  CHECK(Of(report, "third").share == Approx(std::ldexp(1, -25) / 3).epsilon(1e-4));
  CHECK(Of(report, "third").local_ulps == Approx(1 / 3.0));
}

TEST_CASE("shadow: moves, sums, loops and branches carry it", "[check][shadow]") {
  // x = 1/3 in each element, moved about and summed: 4/3 + 1/3 five times over a loop.
  const ShadowReport report = Shadowed(R"(sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
body { p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[] add(x, x)
  ROOT r = (s32[], f32[]) tuple(next, y) }
condition { p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT }
ENTRY e { one = f32[] constant(1)
  three = f32[] constant(3)
  third = f32[] divide(one, three)
  x = f32[4] broadcast(third), dimensions={}
  rows = f32[2,2] reshape(x)
  turned = f32[2,2] transpose(rows), dimensions={1,0}
  first = f32[1,2] slice(turned), slice={[0:1], [0:2]}
  twice = f32[2,2] concatenate(first, first), dimensions={0}
  zero = f32[] constant(0)
  total = f32[] reduce(twice, zero), dimensions={0,1}, to_apply=sum
  i = s32[] constant(0)
  state = (s32[], f32[]) tuple(i, total)
  loop = (s32[], f32[]) while(state), condition=condition, body=body
  ROOT y = f32[] get-tuple-element(loop), index=1 })");
  // 1/3 is off by 1/3 ulp, and doubling and four of it are exact.
  CHECK(Of(report, "third").local_ulps == Approx(1 / 3.0));
  CHECK(Of(report, "twice").error_ulps == Approx(1 / 3.0));
  CHECK(Of(report, "total").inherited_ulps == Approx(1 / 3.0));
  CHECK(Of(report, "y").runs == 5);
  CHECK(report.outputs[0].error_ulps == Approx(1 / 3.0));
  CHECK(Of(report, "third").share == Approx(1));
}

TEST_CASE("shadow: what it would decide otherwise is counted", "[check][shadow]") {
  const ShadowReport report = Shadowed(R"(ENTRY e { big = f32[] constant(1e8)
  one = f32[] constant(1)
  sum = f32[] add(big, one)
  ROOT more = pred[] compare(sum, big), direction=GT })");
  CHECK(Of(report, "more").otherwise == 1);
}

TEST_CASE("shadow: numbers of 256 bits count against the memory limit", "[check][shadow]") {
  const absl::StatusOr<Program> program = Program::Load(
      "test.hlo",
      "HloModule m\nENTRY e { i = f32[1000] iota(), iota_dimension=0\n  ROOT s = f32[1000] sqrt(i) }");
  REQUIRE(program.ok());
  RunOptions options;
  options.limits.memory_limit = 50000;
  CHECK(ExitCodeOf(RunShadow(*program, {}, options).status()) == 5);
}

}  // namespace assay::testing
