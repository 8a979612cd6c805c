// Intermediate values of runs by name: names and values worked out by hand.
#include "find/values/value_recorder.h"

#include "catch2/catch.hpp"
#include "evaluator/grid/device_grid.h"

namespace assay::testing {
namespace {

Program Loaded(const std::string& text) {
  absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *program;
}

RunValues Run(const Program& program, std::vector<Literal> arguments = {}, const ValuesOptions& options = {},
              DeviceGrid grid = {}) {
  DeviceInputs inputs;
  inputs.arguments = std::move(arguments);
  absl::StatusOr<RunValues> values = RunForValues(
      program, grid, std::vector<DeviceInputs>(static_cast<size_t>(grid.size()), inputs), {}, options);
  INFO(values.status());
  REQUIRE(values.ok());
  return *std::move(values);
}

std::vector<std::string> Names(const RunValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values.values) names.push_back(name);
  return names;
}

double Of(const RunValues& values, const std::string& name) {
  for (const auto& [key, value] : values.values) {
    if (key == name) return value.GetDouble(0);
  }
  FAIL("no value " << name);
  return 0;
}

// x, x + 1, x + 2, … until it is 3 or more.
constexpr char kLoop[] = R"(
condition { p = (f32[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  three = f32[] constant(3)
  ROOT less = pred[] compare(x, three), direction=LT }
body { p = (f32[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  one = f32[] constant(1)
  sum = f32[] add(x, one)
  ROOT t = (f32[]) tuple(sum) }
ENTRY e { x = f32[] parameter(0)
  t = (f32[]) tuple(x)
  loop = (f32[]) while(t), condition=condition, body=body
  out = f32[] get-tuple-element(loop), index=0
  ROOT twice = f32[] add(out, out) })";

}  // namespace

TEST_CASE("values: calls nest in calls and fusions", "[find][values]") {
  const RunValues values = Run(Loaded(R"(
g { a = f32[] parameter(0)
  ROOT half = f32[] multiply(a, a) }
f { a = f32[] parameter(0)
  inner = f32[] call(a), to_apply=g
  ROOT sum = f32[] add(inner, a) }
ENTRY e { x = f32[] parameter(0)
  fused = f32[] fusion(x), kind=kLoop, calls=f
  again = f32[] call(fused), to_apply=g
  ROOT t = (f32[], f32[]) tuple(fused, again) })"),
                               {Literal::ScalarDouble(ElementType::kF32, 3)});
  CHECK(Names(values) == std::vector<std::string>{"fused/inner/half", "fused/inner", "fused/sum", "fused",
                                                  "again/half", "again"});
  CHECK(Of(values, "fused/inner/half") == 9);
  CHECK(Of(values, "fused/sum") == 12);
  CHECK(Of(values, "again/half") == 144);
  CHECK(values.left_out == 0);
}

TEST_CASE("values: iterations have numbers", "[find][values]") {
  const RunValues values = Run(Loaded(kLoop), {Literal::ScalarDouble(ElementType::kF32, 1)});
  CHECK(Names(values) == std::vector<std::string>{"loop/cond0000/less", "loop/it0000/sum",
                                                  "loop/cond0001/less", "loop/it0001/sum",
                                                  "loop/cond0002/less", "loop{0}", "twice"});
  CHECK(Of(values, "loop/it0000/sum") == 2);
  CHECK(Of(values, "loop/it0001/sum") == 3);
  CHECK(Of(values, "loop{0}") == 3);
  CHECK(values.iterations.at("loop") == 2);
  CHECK(values.outputs[0].root.GetDouble(0) == 6);
}

TEST_CASE("values: one computation as condition and body takes turns", "[find][values]") {
  // true, false: the condition is not(p) of the state p, and so is the body.
  const RunValues values = Run(Loaded(R"(
turn { p = pred[] parameter(0)
  ROOT n = pred[] not(p) }
ENTRY e { p = pred[] constant(false)
  ROOT loop = pred[] while(p), condition=turn, body=turn })"));
  CHECK(Names(values) ==
        std::vector<std::string>{"loop/cond0000/n", "loop/it0000/n", "loop/cond0001/n", "loop"});
  CHECK(values.iterations.at("loop") == 1);
}

TEST_CASE("values: a loop in a loop counts anew", "[find][values]") {
  const RunValues values = Run(Loaded(R"(
c { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT less = pred[] compare(i, n), direction=LT }
b { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[]) tuple(next, n) }
outer { p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  two = s32[] constant(2)
  start = (s32[], s32[]) tuple(zero, two)
  inner = (s32[], s32[]) while(start), condition=c, body=b
  counted = s32[] get-tuple-element(inner), index=0
  outer_next = s32[] add(i, counted)
  ROOT t = (s32[], s32[]) tuple(outer_next, n) }
ENTRY e { zero = s32[] constant(0)
  four = s32[] constant(4)
  t = (s32[], s32[]) tuple(zero, four)
  ROOT loop = (s32[], s32[]) while(t), condition=c, body=outer })"),
                               {}, {.only = std::regex("next$")});
  CHECK(Names(values) == std::vector<std::string>{"loop/it0000/inner/it0000/next",
                                                  "loop/it0000/inner/it0001/next", "loop/it0000/outer_next",
                                                  "loop/it0001/inner/it0000/next",
                                                  "loop/it0001/inner/it0001/next", "loop/it0001/outer_next"});
}

TEST_CASE("values: reducers are part of their reduce", "[find][values]") {
  const RunValues values = Run(Loaded(R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] iota(), iota_dimension=0
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add })"));
  CHECK(Names(values) == std::vector<std::string>{"x", "sum"});
}

TEST_CASE("values: limits leave out what comes last, and count", "[find][values]") {
  const Literal one = Literal::ScalarDouble(ElementType::kF32, 1);
  const RunValues few = Run(Loaded(kLoop), {one}, {.max_values = 3});
  CHECK(Names(few) ==
        std::vector<std::string>{"loop/cond0000/less", "loop/it0000/sum", "loop/cond0001/less"});
  CHECK(few.left_out == 4);
  CHECK(few.first_left_out == "loop/it0001/sum");
  CHECK(NotesOf(few)[0].starts_with("4 values left out, 'loop/it0001/sum' the first"));
  // What --only does not name is not left out by a limit.
  const RunValues sums = Run(Loaded(kLoop), {one}, {.only = std::regex("sum"), .max_values = 1});
  CHECK(sums.left_out == 1);
  const RunValues none = Run(Loaded(kLoop), {one}, {.memory_share = 0});
  CHECK(none.values.empty());
  CHECK(none.left_out == 7);
}

TEST_CASE("values: instructions that did not run are counted", "[find][values]") {
  const RunValues values = Run(Loaded(R"(
ENTRY e { x = f32[] parameter(0)
  unused = f32[] add(x, x)
  ROOT y = f32[] negate(x) })"),
                               {Literal::ScalarDouble(ElementType::kF32, 1)});
  CHECK(Names(values) == std::vector<std::string>{"y"});
  CHECK(values.not_run == 1);
}

TEST_CASE("values: each device has its own", "[find][values]") {
  const DeviceGrid grid{.replicas = 2, .partitions = 1};
  const RunValues values = Run(Loaded(R"(, replica_count=2
ENTRY e { r = u32[] replica-id()
  ROOT x = f32[] convert(r) })"),
                               {}, {}, grid);
  CHECK(Names(values) == std::vector<std::string>{"r0p0/r", "r0p0/x", "r1p0/r", "r1p0/x"});
  CHECK(Of(values, "r0p0/x") == 0);
  CHECK(Of(values, "r1p0/x") == 1);
}

}  // namespace assay::testing
