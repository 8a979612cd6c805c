// Copies, gathers and slices at indices by the engine "gpu" on the emulated driver: elements that are moved
// one by one, and those that are joined.
#include "fmt/format.h"
#include "gpu/box.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

void CheckMove(std::string_view parameters, std::string_view root) {
  const std::string text = fmt::format("HloModule m\nENTRY e {{\n{}\n  ROOT r = {}\n}}\n", parameters, root);
  CheckOnDevice(text, 1);
}

}  // namespace

TEST_CASE("transposes, slices, pads and concatenations of every width", "[gpu][move]") {
  for (const std::string t : {"s8", "bf16", "f32", "f64", "c128"}) {
    CheckMove("  x = " + t + "[67,130] parameter(0)", t + "[130,67] transpose(x), dimensions={1,0}");
    CheckMove("  x = " + t + "[5,7,66] parameter(0)", t + "[66,5,7] transpose(x), dimensions={2,0,1}");
    CheckMove("  x = " + t + "[5,7,64] parameter(0)", t + "[7,5,64] transpose(x), dimensions={1,0,2}");
    CheckMove("  x = " + t + "[9,40] parameter(0)", t + "[4,24] slice(x), slice={[1:9:2], [8:32]}");
    CheckMove("  x = " + t + "[9,40] parameter(0)", t + "[4,24] slice(x), slice={[1:9:2], [7:31]}");
    CheckMove("  x = " + t + "[6,16] parameter(0)\n  p = " + t + "[] parameter(1)",
              t + "[9,48] pad(x, p), padding=1_2x16_16");
    CheckMove("  x = " + t + "[6,16] parameter(0)\n  y = " + t + "[6,5] parameter(1)",
              t + "[6,37] concatenate(x, y, x), dimensions={1}");
  }
}

TEST_CASE("a concatenation reads through slices and reshapes", "[gpu][move]") {
  for (const std::string t : {"s8", "f32", "c128"}) {
    const auto check = [&](const std::string& parts, const std::string& root, const std::string& fuses) {
      const std::string text = fmt::format(
          "HloModule m\nENTRY e {{\n  x = {0}[6,8] parameter(0)\n  y = {0}[24] parameter(1)\n{1}  ROOT r = "
          "{2}\n}}\n",
          t, parts, root);
      CheckOnDevice(text, 1);
      CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("fused: " + fuses));
    };
    check("  a = " + t + "[16] slice(y), slice={[8:24]}\n  b = " + t + "[8] slice(y), slice={[3:19:2]}\n",
          t + "[24] concatenate(a, b), dimensions={0}", "%a %b");
    check("  a = " + t + "[6,4] reshape(y)\n", t + "[6,20] concatenate(a, x, x), dimensions={1}", "%a");
    check("  a = " + t + "[3,8] slice(x), slice={[0:6:2], [0:8]}\n  b = " + t + "[3,8] reshape(y)\n",
          t + "[6,8] concatenate(a, b), dimensions={0}", "%a %b");
  }
}

TEST_CASE("a reshape is its operand, wherever that is", "[gpu][move]") {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[6,8] parameter(0)
  n = f32[6,8] tanh(x)
  s = f32[48] reshape(n)
  c = f32[4,12] reshape(s)
  ROOT r = f32[48] reshape(c)
}
)";
  CheckOnDevice(text);
  const std::string plan = PlanOfEqualRun(text);
  CHECK_THAT(plan, Catch::Contains("[in place]"));
  if (!TestsEmulatedDriver()) return;
  const Program program = ProgramOf(text);
  const std::vector<Literal> arguments = RandomInputs(program.verified(), 1).value();
  const Plan planned = PlanOf(program, Emulated());
  const uint64_t before = CallsOf("cuLaunchKernel");
  REQUIRE(Executor(planned, {}).Run(arguments).ok());
  CHECK(CallsOf("cuLaunchKernel") == before + 1);
}

TEST_CASE("gathers and slices at indices, of rows of every length", "[gpu][move]") {
  for (const std::string t : {"s8", "f32", "c128"}) {
    for (const int row : {1, 2, 5, 48, 64}) {
      CheckMove(fmt::format("  x = {}[19,{}] parameter(0)\n  i = s32[300] parameter(1)", t, row),
                fmt::format("{0}[300,{1}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                            "start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{1}}}",
                            t, row));
      // Rows from a place within them.
      CheckMove(fmt::format("  x = {}[19,{}] parameter(0)\n  i = s64[2,30] parameter(1)", t, row + 3),
                fmt::format("{0}[2,{1},30] gather(x, i), offset_dims={{0,1}}, collapsed_slice_dims={{}}, "
                            "start_index_map={{1,0}}, index_vector_dim=0, slice_sizes={{2,{1}}}",
                            t, row));
    }
    const std::string starts = "\n  a = s32[] parameter(1)\n  b = s32[] parameter(2)";
    CheckMove("  x = " + t + "[19,64] parameter(0)" + starts,
              t + "[7,64] dynamic-slice(x, a, b), dynamic_slice_sizes={7,64}");
    CheckMove("  x = " + t + "[19,64] parameter(0)" + starts,
              t + "[7,32] dynamic-slice(x, a, b), dynamic_slice_sizes={7,32}");
    CheckMove("  x = " + t + "[19,64] parameter(0)\n  u = " + t + "[3,64] parameter(3)" + starts,
              t + "[19,64] dynamic-update-slice(x, u, a, b)");
    CheckMove("  x = " + t + "[19,64] parameter(0)\n  u = " + t + "[3,5] parameter(3)" + starts,
              t + "[19,64] dynamic-update-slice(x, u, a, b)");
  }
}

TEST_CASE("elements are joined where sizes, strides and places allow it", "[gpu][move]") {
  const std::vector<BoxAxis> rows{{10, 64, 64, 1}, {64, 1, 1, 0}};
  CHECK(BoxPlanOf(rows, 4, {})->bytes == 16);
  CHECK(BoxPlanOf(rows, 4, {})->arguments.count == 160);
  const int64_t two[] = {64, 2}, three[] = {3};
  CHECK(BoxPlanOf(rows, 4, two)->bytes == 8);
  CHECK(BoxPlanOf(rows, 4, three)->bytes == 4);
  CHECK(BoxPlanOf({{10, 65, 64, 1}, {64, 1, 1, 0}}, 4, {})->bytes == 4);
  CHECK(BoxPlanOf({{10, 64, 64, 0}, {64, 1, 1, 0}}, 1, {})->arguments.rank == 1);
  CHECK(BoxPlanOf({{10, 64, 640, 0}, {10, 640, 64, 0}, {64, 1, 1, 0}}, 16, {})->arguments.rank == 3);
  CHECK(!BoxPlanOf({{int64_t{1} << 31, 2, 1, 0}}, 4, {}));
  CHECK(BoxPlanOf({{int64_t{1} << 31, 1, 1, 0}}, 4, {})->arguments.count == 1u << 29);
}

}  // namespace assay::gpu
