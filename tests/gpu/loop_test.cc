// Loops by the engine "gpu": what an iteration asks of the driver, and results that are checked afterwards.
#include <cstring>
#include <fstream>
#include <sstream>

#include "fmt/format.h"
#include "tests/gpu/device_programs.h"
#include "tests/gpu/ptx/hard_arguments.h"

namespace assay::gpu {
namespace {

uint64_t Waits() { return CallsOf("cuStreamSynchronize") + CallsOf("cuEventSynchronize"); }

// 64 iterations: row i of the table is read, a function of it is written to row i and added to the state.
std::string Loop(const std::string& function) {
  return fmt::format(R"(HloModule m
body {{
  p = (s32[], f32[4], f32[64,4], f32[64,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  h = f32[4] get-tuple-element(p), index=1
  w = f32[64,4] get-tuple-element(p), index=2
  t = f32[64,4] get-tuple-element(p), index=3
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  row = f32[1,4] dynamic-slice(t, i, zero), dynamic_slice_sizes={{1,4}}
  f = f32[1,4] {}(row)
  written = f32[64,4] dynamic-update-slice(w, f, i, zero)
  flat = f32[4] reshape(f)
  sum = f32[4] add(h, flat)
  ROOT r = (s32[], f32[4], f32[64,4], f32[64,4]) tuple(next, sum, written, t)
}}
condition {{
  p = (s32[], f32[4], f32[64,4], f32[64,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(64)
  ROOT c = pred[] compare(i, most), direction=LT
}}
ENTRY e {{
  h = f32[4] parameter(0)
  t = f32[64,4] parameter(1)
  zero = s32[] constant(0)
  z = f32[] constant(0)
  w = f32[64,4] broadcast(z), dimensions={{}}
  s = (s32[], f32[4], f32[64,4], f32[64,4]) tuple(zero, h, w, t)
  l = (s32[], f32[4], f32[64,4], f32[64,4]) while(s), condition=condition, body=body
  a = f32[4] get-tuple-element(l), index=1
  b = f32[64,4] get-tuple-element(l), index=2
  ROOT r = (f32[4], f32[64,4]) tuple(a, b)
}}
)",
                     function);
}

// The table has `hard` at some rows.
std::vector<Literal> ArgumentsOfLoop(const std::vector<uint32_t>& hard, const std::vector<int64_t>& rows) {
  std::vector<double> table(256);
  for (size_t k = 0; k < table.size(); ++k) table[k] = 0.01 * static_cast<double>(k) - 1;
  for (size_t k = 0; k < rows.size(); ++k) {
    float value = 0;
    std::memcpy(&value, &hard[k % hard.size()], 4);
    table[static_cast<size_t>(rows[k] * 4 + static_cast<int64_t>(k % 4))] = value;
  }
  const int64_t row[] = {4}, all[] = {64, 4};
  return {Literal::FromDoubles(ElementType::kF32, row, std::vector<double>{1, 2, 3, 4}),
          Literal::FromDoubles(ElementType::kF32, all, table)};
}

std::vector<uint32_t> HardArgumentsOf(Opcode opcode) {
  for (const testing::HardArguments& hard : testing::AllHardArguments()) {
    if (hard.opcode == opcode) return hard.floats;
  }
  return {};
}

}  // namespace

TEST_CASE("an iteration of small steps is one call of the driver, and waits for nothing", "[gpu][loop]") {
  const std::string text = Loop("tanh");
  const Program program = ProgramOf(text);
  const std::vector<Literal> arguments = ArgumentsOfLoop({}, {});
  PlanOfEqualRun(text, arguments);
  if (!TestsEmulatedDriver()) return;
  const Plan plan = PlanOf(program, Emulated());
  const uint64_t calls = CallsOf("*"), waits = Waits(), graphs = CallsOf("cuGraphLaunch"),
                 in = CallsOf("cuMemcpyHtoDAsync_v2"), taken = CallsOf("cuMemAllocFromPoolAsync");
  REQUIRE(Executor(plan, {}).Run(arguments).ok());
  INFO(fmt::format("{} calls, {} waits, {} graphs, {} copies to the device, {} allocations",
                   CallsOf("*") - calls, Waits() - waits, CallsOf("cuGraphLaunch") - graphs,
                   CallsOf("cuMemcpyHtoDAsync_v2") - in, CallsOf("cuMemAllocFromPoolAsync") - taken));
  // The first iteration checks at once; then two sets of addresses take turns.
  CHECK(CallsOf("cuGraphLaunch") - graphs >= 64 - 8);
  CHECK(Waits() - waits <= 6);
  CHECK(CallsOf("cuMemcpyHtoDAsync_v2") - in <= 6);
  // A graph's launch, and the context before and after it.
  CHECK(CallsOf("*") - calls <= 3 * 64 + 200);
}

TEST_CASE("a check that fails after some iterations has them run again", "[gpu][loop]") {
  for (const auto& [name, opcode] :
       {std::pair{"exponential", Opcode::kExp}, {"tanh", Opcode::kTanh}, {"log-plus-one", Opcode::kLog1p}}) {
    const std::vector<uint32_t> hard = HardArgumentsOf(opcode);
    REQUIRE(!hard.empty());
    for (const std::vector<int64_t>& rows :
         {std::vector<int64_t>{0}, {1}, {40}, {63}, {1, 2, 3, 4, 60, 61, 62, 63}}) {
      INFO(name << " " << rows[0]);
      PlanOfEqualRun(Loop(name), ArgumentsOfLoop(hard, rows));
    }
  }
}

TEST_CASE("a number that the host knows as well is right in both places", "[gpu][loop]") {
  // The counter comes back from the device as it is there; the condition reads it on the host.
  for (const std::string type : {"s32", "u8", "s64", "u32"}) {
    PlanOfEqualRun(fmt::format(R"(HloModule m
body {{
  p = ({0}[], {0}[5]) parameter(0)
  i = {0}[] get-tuple-element(p), index=0
  a = {0}[5] get-tuple-element(p), index=1
  three = {0}[] constant(3)
  next = {0}[] add(i, three)
  twice = {0}[] multiply(next, next)
  b = {0}[5] broadcast(twice), dimensions={{}}
  sum = {0}[5] add(a, b)
  ROOT r = ({0}[], {0}[5]) tuple(next, sum)
}}
condition {{
  p = ({0}[], {0}[5]) parameter(0)
  i = {0}[] get-tuple-element(p), index=0
  most = {0}[] constant(100)
  ROOT c = pred[] compare(i, most), direction=LT
}}
ENTRY e {{
  a = {0}[5] parameter(0)
  zero = {0}[] constant(0)
  s = ({0}[], {0}[5]) tuple(zero, a)
  ROOT l = ({0}[], {0}[5]) while(s), condition=condition, body=body
}}
)",
                               type));
  }
}

// It was 142 calls of the driver and 4 waits an iteration.
TEST_CASE("gru_scan waits once for all of its steps", "[gpu][loop]") {
  std::ostringstream text;
  text << std::ifstream(std::string(ASSAY_SOURCE_DIR) + "/golden/programs/gru_scan/program.hlo").rdbuf();
  const Program program = ProgramOf(text.str());
  const Plan plan = PlanOf(program, Emulated());
  CHECK_THAT(PlanToText(plan), !Catch::Contains("\n  native ") && !Catch::Contains("\n  jit "));
  const std::vector<Literal> arguments = RandomInputs(program.verified(), 1).value();
  const absl::StatusOr<Literal> wanted = program.Run(arguments, {}, EnginesOf(EngineChoice::kReference));
  REQUIRE(wanted.ok());
  const uint64_t calls = CallsOf("*"), waits = Waits(), graphs = CallsOf("cuGraphLaunch");
  const absl::StatusOr<Literal> found = Executor(plan, {}).Run(arguments);
  REQUIRE(found.ok());
  CHECK(Literal::BitwiseEqual(*found, *wanted));
  if (!TestsEmulatedDriver()) return;
  INFO(fmt::format("{} calls, {} waits, {} graphs", CallsOf("*") - calls, Waits() - waits,
                   CallsOf("cuGraphLaunch") - graphs));
  CHECK(CallsOf("cuGraphLaunch") - graphs >= 40);
  CHECK(Waits() - waits <= 8);
  CHECK(CallsOf("*") - calls <= 50 * 3 + 400);
}

}  // namespace assay::gpu
