// Times the reference engine on single instructions and on the interpreter's own overhead, and prints a
// table: nanoseconds an element, a multiply-add or an instruction, beside the goal. Two figures: the best of
// several runs of one executor, which takes up again the storage that the run before freed, and the best
// first run of a fresh one, which also pays for the system's clearing of each new page. The engine has one
// thread, so the process's CPU time is taken: on a shared machine wall time also shows what others do.
// Usage: evaluator_bench [PART OF A NAME]: only the rows whose name has it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "base/page_pool.h"
#include "fmt/format.h"
#include "run/inputs/random_inputs.h"
#include "run/program.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Case {
  std::string name;
  std::string program;  // body of the module
  double units;         // what the time is divided by
  double goal;          // nanoseconds a unit
};

constexpr int64_t kMillion = 1 << 20;

std::vector<Case> Cases() {
  const double n = 16.0 * kMillion;
  return {
      {"transpose f32[4096,4096]",
       R"(x = f32[4096,4096] parameter(0)
 ROOT y = f32[4096,4096] transpose(x), dimensions={1,0})",
       n, 1},
      {"slice f32[4096,8192], half",
       R"(x = f32[4096,8192] parameter(0)
 ROOT y = f32[4096,4096] slice(x), slice={[0:4096],[11:4107]})",
       n, 1},
      {"slice f32[16M], stride 2",
       R"(x = f32[33554432] parameter(0)
 ROOT y = f32[16777216] slice(x), slice={[0:33554432:2]})",
       n, 1},
      {"broadcast f32[4096] to rows",
       R"(x = f32[4096] parameter(0)
 ROOT y = f32[4096,4096] broadcast(x), dimensions={1})",
       n, 1},
      {"broadcast f32[4096] to columns",
       R"(x = f32[4096] parameter(0)
 ROOT y = f32[4096,4096] broadcast(x), dimensions={0})",
       n, 1},
      {"concatenate 2 x f32[4096,2048]",
       R"(x = f32[4096,2048] parameter(0)
 ROOT y = f32[4096,4096] concatenate(x, x), dimensions={1})",
       n, 1},
      {"gather 262144 rows of 64",
       R"(x = f32[10000,64] parameter(0)
 i = s32[262144] parameter(1)
 ROOT y = f32[262144,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64})",
       n, 1},
      {"transpose u8[8192,8192]",
       R"(x = u8[8192,8192] parameter(0)
 ROOT y = u8[8192,8192] transpose(x), dimensions={1,0})",
       64.0 * kMillion, 1},
      {"transpose f32[16,64,64,256] to 0,3,1,2",
       R"(x = f32[16,64,64,256] parameter(0)
 ROOT y = f32[16,256,64,64] transpose(x), dimensions={0,3,1,2})",
       n, 1},
      {"reverse u8[64M]", R"(x = u8[67108864] parameter(0)
 ROOT y = u8[67108864] reverse(x), dimensions={0})",
       64.0 * kMillion, 1},
      {"reverse f32[16M]",
       R"(x = f32[16777216] parameter(0)
 ROOT y = f32[16777216] reverse(x), dimensions={0})",
       n, 1},
      {"add f32[16M]",
       R"(x = f32[16777216] parameter(0)
 y = f32[16777216] parameter(1)
 ROOT z = f32[16777216] add(x, y))",
       n, 1},
      {"multiply bf16[16M]", R"(x = bf16[16777216] parameter(0)
 ROOT z = bf16[16777216] multiply(x, x))",
       n, 0},
      {"exponential f32[256k]", R"(x = f32[262144] parameter(0)
 ROOT z = f32[262144] exponential(x))",
       262144, 0},
      {"dot f32 256x256x256",
       R"(x = f32[256,256] parameter(0)
 y = f32[256,256] parameter(1)
 ROOT z = f32[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
       256.0 * 256 * 256, 10},
      {"dot s8 to s32 256x256x256",
       R"(x = s8[256,256] parameter(0)
 y = s8[256,256] parameter(1)
 ROOT z = s32[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
       256.0 * 256 * 256, 0},
      {"convolution f32 1x32x32x16, 3x3x16x16",
       R"(x = f32[1,32,32,16] parameter(0)
 k = f32[3,3,16,16] parameter(1)
 ROOT z = f32[1,32,32,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)",
       32.0 * 32 * 16 * 144, 10},
      {"reduce-add f32[1M]",
       R"(x = f32[1048576] parameter(0)
 i = f32[] constant(0)
 ROOT z = f32[] reduce(x, i), dimensions={0}, to_apply={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) })",
       kMillion, 0},
      {"reduce-max f32[1024,1024], rows",
       R"(x = f32[1024,1024] parameter(0)
 i = f32[] constant(-inf)
 ROOT z = f32[1024] reduce(x, i), dimensions={1}, to_apply={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) })",
       kMillion, 0},
      {"sort f32[100k]",
       R"(x = f32[100000] parameter(0)
 ROOT z = f32[100000] sort(x), dimensions={0}, to_apply={ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT })",
       1e5, 0},
  };
}

// The loop of the goal: 10,000 iterations of a three-instruction body.
constexpr char kLoop[] = R"(HloModule loop
condition {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10000)
  ROOT more = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  scaled = f32[] multiply(x, half)
  sum = f32[] add(scaled, half)
  ROOT t = (s32[], f32[]) tuple(next, sum)
}
ENTRY main {
  zero = s32[] constant(0)
  x = f32[] constant(3)
  init = (s32[], f32[]) tuple(zero, x)
  ROOT result = (s32[], f32[]) while(init), condition=condition, body=body
}
)";

struct Times {
  double best = 1e30, first = 1e30;  // seconds
};

// Nothing, after a message, if the program can't run.
std::optional<Times> Measure(const std::string& text) {
  const absl::StatusOr<Program> program = Program::Load("bench.hlo", text);
  if (!program.ok()) return std::printf("%s\n", program.status().ToString().c_str()), std::nullopt;
  const absl::StatusOr<std::vector<Literal>> arguments = RandomInputs(program->verified(), 1);
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program->PlanFor();
  if (!arguments.ok() || !plan.ok()) return std::nullopt;
  Times times;
  const Clock::time_point start = Clock::now();
  do {
    PagePool::OfProcess().Clear();
    Executor executor(**plan, {});
    for (int i = 0; i < 8; ++i) {
      const double run = CpuSeconds();
      const absl::StatusOr<Literal> result = executor.Run(*arguments);
      if (!result.ok()) return std::printf("%s\n", result.status().ToString().c_str()), std::nullopt;
      const double seconds = CpuSeconds() - run;
      times.best = std::min(times.best, seconds);
      if (i == 0) times.first = std::min(times.first, seconds);
    }
  } while (std::chrono::duration<double>(Clock::now() - start).count() < 1);
  return times;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const auto selected = [&](const std::string& name) { return name.find(wanted) != std::string::npos; };
  for (const assay::Case& c : assay::Cases()) {
    if (!selected(c.name)) continue;
    const auto times = assay::Measure(R"(HloModule bench
ENTRY main {
 )" + c.program + "\n}\n");
    if (!times) continue;
    std::printf("%-44s %9.3f ns a unit, first %9.3f", c.name.c_str(), times->best * 1e9 / c.units,
                times->first * 1e9 / c.units);
    std::printf(c.goal > 0 ? "   goal %.0f\n" : "\n", c.goal);
  }
  if (!selected("while, 10,000 iterations")) return 0;
  if (const auto times = assay::Measure(assay::kLoop)) {
    std::printf("%-44s %9.3f ms, %.0f ns an instruction   goal 50 ms, 300 ns\n", "while, 10,000 iterations",
                times->best * 1e3, times->best * 1e9 / (10000 * 13.0));
  }
  return 0;
}
