// The first instruction from which nothing is known.
#include "check/undecided.h"

#include <catch2/catch.hpp>
#include <string>

namespace assay::testing {
namespace {

FirstUndecided FirstOf(const std::string& text, std::vector<Literal> arguments) {
  const absl::StatusOr<Profile> profile = ParseProfile("test", "inherit strict");
  REQUIRE(profile.ok());
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  const int64_t leaf = 0;
  const auto found = FindFirstUndecided(*program, *profile, arguments, {&leaf, 1}, RunOptions(), EnginesOf());
  INFO(found.status());
  REQUIRE(found.ok());
  REQUIRE((*found)[0].has_value());
  return *(*found)[0];
}

constexpr char kAdd[] =
    "add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b) }\n";

Literal Numbers() { return Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, -6}}); }

}  // namespace

TEST_CASE("undecided: an instruction of the entry computation", "[check][bounds]") {
  // 1 + 2 + 3 - 6 = 0 but for rounding: its logarithm may be anything. What comes before and behind is not
  // named, nor is what does not reach the result.
  const FirstUndecided first = FirstOf(std::string(kAdd) + R"(ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  unused = f32[] rsqrt(sum)
  l = f32[] log(sum)
  n = f32[] negate(l)
  ROOT r = f32[] add(n, n) })",
                                       {Numbers()});
  CHECK(first.instruction == "l");
  CHECK(first.op == "log");
  CHECK(first.inside.empty());
  CHECK(!first.why.empty());
}

TEST_CASE("undecided: an iteration of a loop, in a call", "[check][bounds]") {
  // 0, 1, 2 in turn are taken from a sum that is 2: in iteration 2 the difference is 0 but for rounding.
  const FirstUndecided first = FirstOf(std::string(kAdd) + R"(inner { d = f32[] parameter(0)
  ROOT l = f32[] log(d) }
body { s = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[] get-tuple-element(s), index=1
  w = f32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = f32[] convert(i)
  d = f32[] subtract(v, c)
  k = f32[] call(d), to_apply=inner
  ROOT t = (s32[], f32[], f32[]) tuple(j, v, k) }
test { s = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
  eight = f32[] constant(8)
  sum = f32[] reduce(x, eight), dimensions={0}, to_apply=add
  four = f32[] constant(4)
  two = f32[] divide(sum, four)
  z = s32[] constant(0)
  t = (s32[], f32[], f32[]) tuple(z, two, two)
  l = (s32[], f32[], f32[]) while(t), condition=test, body=body
  ROOT r = f32[] get-tuple-element(l), index=2 })",
                                       {Numbers()});
  CHECK(first.instruction == "l");
  CHECK(first.op == "log");
  CHECK(first.inside == "k");
  CHECK(first.iteration == 2);
}

TEST_CASE("undecided: a branch, and a loop that may go on", "[check][bounds]") {
  // Names are unique in a program: the parser would number a second r.
  const std::string branches = std::string(kAdd) + R"(one { x = f32[] parameter(0)
  ROOT n = f32[] negate(x) }
two { x = f32[] parameter(0)
  ROOT m = f32[] abs(x) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  p = pred[] compare(sum, zero), direction=LT
  ROOT r = f32[] conditional(p, sum, zero), true_computation=one, false_computation=two })";
  const FirstUndecided first = FirstOf(branches, {Numbers()});
  CHECK(first.instruction == "r");
  CHECK(first.why == "it is not decided which branch runs");
}

}  // namespace assay::testing
