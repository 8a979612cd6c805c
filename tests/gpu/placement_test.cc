// Which steps the engine "gpu" leaves to the CPU by what they take there.
#include "gpu/placement.h"

#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

// The engine of each instruction's step in the plan, by name: "x:gpu y:jit", of those that are asked for.
std::string EnginesIn(const std::string& text, const std::vector<std::string>& names) {
  const Program program = ProgramOf(text);
  const Plan plan = PlanOf(program, Emulated(-1));
  std::string found;
  for (const std::string& name : names) {
    for (size_t c = 0; c < plan.computations.size(); ++c) {
      for (const Step& step : plan.computations[c].steps) {
        if (plan.module->computations[c].instructions[static_cast<size_t>(step.instruction)].name != name)
          continue;
        const bool is_gpu = step.engine != nullptr && step.engine->name() == "gpu";
        found += fmt::format("{}{}:{}", found.empty() ? "" : " ", name, is_gpu ? "gpu" : "cpu");
      }
    }
  }
  return found;
}

double MicrosecondsOf(const std::string& root, const std::string& parameters) {
  const Program program =
      ProgramOf(fmt::format("HloModule m\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                            "  ROOT s = f32[] add(a, b)\n}}\nENTRY e {{\n{}  ROOT r = {}\n}}\n",
                            parameters, root));
  const Computation& entry = program.module().entry_computation();
  return CpuMicroseconds({program.module(), entry, entry.root_instruction()});
}

}  // namespace

TEST_CASE("the CPU's time is that of the table", "[gpu][placement]") {
  const std::string vector = "  x = f32[100000] parameter(0)\n  z = f32[] constant(0)\n";
  // 800,000 bytes; the same and 100,000 functions.
  CHECK(MicrosecondsOf("f32[100000] negate(x)", vector) == Approx(800 * 0.37 / 8));
  CHECK(MicrosecondsOf("f32[100000] tanh(x)", vector) == Approx(800 * 0.37 / 8 + 80));
  CHECK(MicrosecondsOf("f32[] reduce(x, z), dimensions={0}, to_apply=add", vector) == Approx(25));
  for (const auto& [type, nanoseconds] : {std::pair{"f32", 0.013},
                                          {"f64", 0.046},
                                          {"bf16", 0.0055},
                                          {"s8", 0.0003},
                                          {"u4", 0.0003},
                                          {"s16", 0.019},
                                          {"u32", 0.019},
                                          {"s64", 0.027}}) {
    const std::string matrices =
        fmt::format("  x = {0}[100,200] parameter(0)\n  y = {0}[200,50] parameter(1)\n", type);
    CHECK(
        MicrosecondsOf(
            fmt::format("{}[100,50] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", type),
            matrices) == Approx(2e-3 * 100 * 200 * 50 * nanoseconds));
  }
  CHECK(MicrosecondsOf("s32[100,50] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                       "  x = s8[100,200] parameter(0)\n  y = s32[200,50] parameter(1)\n") ==
        Approx(2e-3 * 100 * 200 * 50 * 0.019));
}

TEST_CASE("steps go to the device where the CPU takes longer, and where they read what it made",
          "[gpu][placement]") {
  const std::string text = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[1000,1000] parameter(0)
  y = f32[1000] parameter(1)
  z = f32[] constant(0)
  small = f32[1000] tanh(y)
  rows = f32[1000] reduce(x, z), dimensions={1}, to_apply=add
  scaled = f32[1000] multiply(rows, y)
  sorted = f32[1000] sort(scaled), dimensions={0}, is_stable=true, to_apply=less
  other = f32[1000] add(small, y)
  ROOT r = (f32[1000], f32[1000]) tuple(sorted, other)
}
)";
  const std::string less =
      "less {\n  c = f32[] parameter(0)\n  d = f32[] parameter(1)\n  ROOT l = pred[] compare(c, d), "
      "direction=LT\n}\n";
  const std::string whole = "HloModule m\n" + less + text.substr(text.find('\n') + 1);
  CHECK(EnginesIn(whole, {"rows", "scaled", "sorted"}) == "rows:gpu scaled:gpu sorted:gpu");
  CHECK(EnginesIn(whole, {"other"}) == "other:cpu");
  CHECK_THAT(PlanToText(PlanOf(ProgramOf(whole), Emulated(-1))),
             Catch::Contains("(gpu: too little work (the CPU takes about") &&
                 Catch::Contains("us, a step on the device 22)"));
  PlanOfEqualRun(whole, 1, Emulated(-1));
}

// A counter for slices of a large array is the device's; that of a small loop is not.
TEST_CASE("counters of loops are where they are read", "[gpu][placement]") {
  const auto loop = [](int64_t width) {
    return fmt::format(R"(HloModule m
body {{
  p = (s32[], f32[3,{0}], f32[{0}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  t = f32[3,{0}] get-tuple-element(p), index=1
  a = f32[{0}] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  row = f32[1,{0}] dynamic-slice(t, i, zero), dynamic_slice_sizes={{1,{0}}}
  flat = f32[{0}] reshape(row)
  sum = f32[{0}] add(a, flat)
  ROOT r = (s32[], f32[3,{0}], f32[{0}]) tuple(next, t, sum)
}}
condition {{
  p = (s32[], f32[3,{0}], f32[{0}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(3)
  ROOT c = pred[] compare(i, most), direction=LT
}}
ENTRY e {{
  t = f32[3,{0}] parameter(0)
  a = f32[{0}] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], f32[3,{0}], f32[{0}]) tuple(zero, t, a)
  w = (s32[], f32[3,{0}], f32[{0}]) while(s), condition=condition, body=body
  ROOT r = f32[{0}] get-tuple-element(w), index=2
}}
)",
                       width);
  };
  CHECK(EnginesIn(loop(100000), {"next", "row"}) == "next:gpu row:gpu");
  CHECK(EnginesIn(loop(100), {"next"}) != "next:gpu");
  PlanOfEqualRun(loop(100000), 1, Emulated(-1));
}

}  // namespace assay::gpu
