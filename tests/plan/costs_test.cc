#include "plan/costs.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "fmt/format.h"
#include "plan/plan_text.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

// What XLA counts of the root: "flops", "transcendentals" and "bytes accessed" of jaxlib 0.10.2's
// hlo_module_cost_analysis, for this text.
struct Xla {
  double flops, functions, bytes;
};

struct Case {
  const char* body;  // of the entry computation; the root is what counts
  Cost cost;         // worked out by hand
  Xla xla;
};

constexpr char kCalled[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=GE
}
next {
  x = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT s = s32[] add(x, one)
}
more {
  x = s32[] parameter(0)
  end = s32[] constant(10)
  ROOT s = pred[] compare(x, end), direction=LT
}
ENTRY e {
)";

// Where the two agree.
const Case kSame[] = {
    // 2 M N K = 2 * 8 * 4 * 16; 8*16, 16*4 and 8*4 floats.
    {R"(x = f32[8,16] parameter(0)
y = f32[16,4] parameter(1)
ROOT d = f32[8,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
     {768, 128, 1024, 0},
     {1024, 0, 896}},
    // Three of them.
    {R"(x = f32[3,8,16] parameter(0)
y = f32[3,16,4] parameter(1)
ROOT d = f32[3,8,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1})",
     {2304, 384, 3072, 0},
     {3072, 0, 2688}},
    // A complex product and sum are one operation each.
    {R"(x = c64[8,16] parameter(0)
y = c64[16,4] parameter(1)
ROOT d = c64[8,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
     {1536, 256, 1024, 0},
     {1024, 0, 1792}},
    // Along 5: 3 window positions by 5 outputs but for one at either end, 13; along 7: 19.
    // 2 * 2 * 4 * 3 * 13 * 19.
    {R"(x = f32[2,5,7,3] parameter(0)
k = f32[3,3,3,4] parameter(1)
ROOT d = f32[2,5,7,4] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)",
     {1272, 1120, 11856, 0},
     {11856, 0, 2392}},
    // Elements at 0, 2, 4, 6; output o meets o - 1, o + 1 and o + 3 of these: 6 pairs. 2 * 5 * 2 * 6.
    {R"(x = f32[1,4,2] parameter(0)
k = f32[3,2,5] parameter(1)
ROOT d = f32[1,5,5] convolution(x, k), window={size=3 pad=1_1 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f)",
     {152, 100, 120, 0},
     {120, 0, 252}},
    // Groups: 2 of 4 features meet a kernel; 4 outputs by 3, and 8 by 2 but for one at either end.
    // 2 * 2 * 2 * 6 * 12 * 14.
    {R"(x = f32[2,9,7,4] parameter(0)
k = f32[3,2,2,6] parameter(1)
ROOT d = f32[2,4,8,6] convolution(x, k), window={size=3x2 stride=2x1 pad=0_0x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2)",
     {2304, 1536, 8064, 0},
     {8064, 0, 3840}},
    // Half of the batch meets half of the features: 2 * 6 * 2 * 8 * 25.
    {R"(x = f32[4,9,6] parameter(0)
k = f32[3,6,8] parameter(1)
ROOT d = f32[2,9,8] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, batch_group_count=2)",
     {1440, 576, 4800, 0},
     {4800, 0, 2016}},
    {R"(x = f32[8,16] parameter(0)
ROOT d = f32[8,16] exponential(x))",
     {512, 512, 0, 128},
     {0, 128, 1024}},
    {R"(x = f32[8] parameter(0)
ROOT d = f32[8] tan(x))",
     {32, 32, 0, 8},
     {0, 8, 64}},
    {R"(x = f32[8] parameter(0)
y = f32[8] parameter(1)
ROOT d = f32[8] power(x, y))",
     {64, 32, 0, 8},
     {0, 8, 96}},
    {R"(x = f32[8] parameter(0)
y = f32[8] parameter(1)
ROOT d = f32[8] remainder(x, y))",
     {64, 32, 8, 0},
     {8, 0, 96}},
    {R"(x = s32[8] parameter(0)
y = s32[8] parameter(1)
ROOT d = s32[8] add(x, y))",
     {64, 32, 8, 0},
     {8, 0, 96}},
    {R"(x = f32[8,16] parameter(0)
ROOT d = f16[8,16] convert(x))",
     {512, 256, 128, 0},
     {128, 0, 768}},
    {R"(x = f32[10] parameter(0)
ROOT d = s32[10] bitcast-convert(x))",
     {40, 40, 10, 0},
     {10, 0, 80}},
    // 8 rows of 16: 15 sums each. The zero is a constant that is read.
    {R"(x = f32[8,16] parameter(0)
z = f32[] constant(0)
ROOT d = f32[8] reduce(x, z), dimensions={1}, to_apply=add)",
     {516, 32, 120, 0},
     {120, 0, 548}},
    {R"(x = f32[10] parameter(0)
z = f32[] constant(0)
ROOT d = f32[10] reduce-window(x, z), window={size=3 pad=1_1}, to_apply=add)",
     {44, 40, 20, 0},
     {20, 0, 84}},
    {R"(x = f32[10] parameter(0)
y = f32[10] parameter(1)
ROOT d = f32[10] map(x, y), dimensions={0}, to_apply=add)",
     {80, 40, 10, 0},
     {10, 0, 120}},
    // 5 windows of 2: a comparison and a sum each.
    {R"(x = f32[10] parameter(0)
s = f32[5] parameter(1)
z = f32[] constant(0)
ROOT d = f32[10] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add)",
     {64, 40, 10, 0},
     {10, 0, 104}},
    {R"(x = f32[10] parameter(0)
ROOT d = f32[4] slice(x), slice={[2:6]})",
     {16, 16, 0, 0},
     {0, 0, 32}},
    {R"(x = f32[10] parameter(0)
i = s32[] parameter(1)
ROOT d = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4})",
     {20, 16, 0, 0},
     {0, 0, 36}},
    {R"(x = f32[10] parameter(0)
u = f32[4] parameter(1)
i = s32[] parameter(2)
ROOT d = f32[10] dynamic-update-slice(x, u, i))",
     {20, 16, 0, 0},
     {0, 0, 36}},
    {R"(x = f32[10,3] parameter(0)
i = s32[5,1] parameter(1)
ROOT d = f32[5,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3})",
     {80, 60, 0, 0},
     {0, 0, 140}},
    // 15 updates: read, and where they go read and written.
    {R"(x = f32[10,3] parameter(0)
i = s32[5,1] parameter(1)
u = f32[5,3] parameter(2)
ROOT d = f32[10,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)",
     {140, 60, 15, 0},
     {15, 0, 200}},
    {R"(x = f32[16] parameter(0)
ROOT d = f32[16] sort(x), dimensions={0}, to_apply=ge)",
     {64, 64, 64, 0},
     {64, 0, 128}},
    {R"(x = c64[4,16] parameter(0)
ROOT d = c64[4,16] fft(x), fft_type=FFT, fft_length={16})",
     {512, 512, 2048, 0},
     {2048, 0, 1024}},
    {R"(x = f32[2,5] parameter(0)
ROOT d = f32[5,2] transpose(x), dimensions={1,0})",
     {40, 40, 0, 0},
     {0, 0, 80}},
    {R"(x = f32[10] parameter(0)
ROOT d = f32[3,10] broadcast(x), dimensions={1})",
     {40, 120, 0, 0},
     {0, 0, 160}},
    {"ROOT d = f32[3,10] iota(), iota_dimension=0", {0, 120, 0, 0}, {0, 0, 120}},
    {R"(x = f32[10] parameter(0)
z = f32[] constant(0)
ROOT d = f32[12] pad(x, z), padding=1_1)",
     {44, 48, 0, 0},
     {0, 0, 92}},
    {R"(x = f32[10] parameter(0)
ROOT d = f32[2,5] bitcast(x))",
     {0, 0, 0, 0},
     {0, 0, 0}},
};

// Where they don't: XLA's count is what docs/profiling.md says of it.
const Case kOther[] = {
    // An operand that is read twice is read once.
    {R"(x = f32[8,16] parameter(0)
ROOT d = f32[8,16] add(x, x))",
     {512, 512, 128, 0},
     {128, 0, 1536}},
    // These share storage here.
    {R"(x = f32[10] parameter(0)
ROOT d = f32[2,5] reshape(x))",
     {0, 0, 0, 0},
     {0, 0, 80}},
    {R"(x = f32[10] parameter(0)
ROOT d = f32[10] copy(x))",
     {0, 0, 0, 0},
     {0, 0, 80}},
    {R"(x = f32[10] parameter(0)
ROOT d = (f32[10], f32[10]) tuple(x, x))",
     {0, 0, 0, 0},
     {0, 0, 16}},
    // XLA takes the logarithm of all elements, not of a line's.
    {R"(x = f32[4,16] parameter(0)
ROOT d = f32[4,16] sort(x), dimensions={1}, to_apply=ge)",
     {256, 256, 256, 0},
     {384, 0, 512}},
    // XLA multiplies the logarithms.
    {R"(x = c64[8,16] parameter(0)
ROOT d = c64[8,16] fft(x), fft_type=FFT, fft_length={8,16})",
     {1024, 1024, 7168, 0},
     {12288, 0, 2048}},
    // XLA counts a triangle of these matrices.
    {R"(x = f32[6,6] parameter(0)
ROOT d = f32[6,6] cholesky(x), lower=true)",
     {144, 144, 72, 0},
     {72, 0, 144}},
    {R"(a = f32[6,6] parameter(0)
b = f32[6,5] parameter(1)
ROOT d = f32[6,5] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=false)",
     {264, 120, 360, 0},
     {360, 0, 312}},
    // A loop's steps count where they are.
    {R"(x = s32[] parameter(0)
ROOT d = s32[] while(x), condition=more, body=next)",
     {0, 0, 0, 0},
     {2, 0, 21}},
};

Cost RootCost(const char* body) {
  const Program program = ProgramOf(kCalled + std::string(body) + "\n}\n");
  const Computation& entry = program.module().entry_computation();
  return Costs(program.module()).Of(entry, entry.root_instruction());
}

TEST_CASE("costs: of single instructions, by hand and by XLA", "[costs]") {
  for (const Case& example : kSame) {
    INFO(example.body);
    const Cost cost = RootCost(example.body);
    CHECK(cost == example.cost);
    CHECK(cost.flops == example.xla.flops);
    CHECK(cost.functions == example.xla.functions);
    CHECK(cost.bytes() == example.xla.bytes);
  }
}

TEST_CASE("costs: where XLA counts otherwise", "[costs]") {
  for (const Case& example : kOther) {
    INFO(example.body);
    const Cost cost = RootCost(example.body);
    CHECK(cost == example.cost);
    CHECK((cost.flops != example.xla.flops || cost.bytes() != example.xla.bytes));
  }
}

// Counts what a convolution meets in the plainest way.
int64_t CountPairs(int64_t base, int64_t outputs, const WindowDimension& w) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < base; ++i) {
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t k = 0; k < w.size; ++k)
        pairs += i * w.base_dilation == o * w.stride + k * w.window_dilation - w.padding_low;
    }
  }
  return pairs;
}

TEST_CASE("costs: products with padding and with holes are none", "[costs]") {
  for (int64_t size : {1, 2, 3, 8}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t low : {-2, 0, 1, 5}) {
        for (int64_t hole : {1, 2, 3}) {
          const WindowDimension w{size, stride, low, 4, hole, 2};
          const int64_t padded = (9 - 1) * hole + 1 + low + 4, window = (size - 1) * 2 + 1;
          const int64_t outputs = window > padded ? 0 : (padded - window) / stride + 1;
          const std::string body = fmt::format(R"(x = f32[1,9,1] parameter(0)
k = f32[{0},1,1] parameter(1)
ROOT d = f32[1,{1},1] convolution(x, k), window={{size={0} stride={2} pad={3}_4 lhs_dilate={4} rhs_dilate=2}}, dim_labels=b0f_0io->b0f)",
                                               size, outputs, stride, low, hole);
          INFO(body);
          CHECK(RootCost(body.c_str()).flops == 2.0 * static_cast<double>(CountPairs(9, outputs, w)));
        }
      }
    }
  }
}

TEST_CASE("costs: a fusion reads what is outside and writes its root", "[costs]") {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  y = f32[1000] parameter(1)
  half = f32[] constant(0.5)
  h = f32[1000] broadcast(half), dimensions={}
  a = f32[1000] multiply(x, h)
  b = f32[1000] add(a, y)
  c = f32[1000] multiply(b, x)
  ROOT r = f32[1000] exponential(c)
})");
  const Plan plan = PlanOf(program);
  const ComputationPlan& entry = plan.computations.back();
  if (entry.steps.size() == 1) {  // there is an engine that fuses
    const Cost cost = Costs(*plan.module).Of(plan.module->entry_computation(), entry.steps[0]);
    CHECK(cost == Cost{.read = 4000 + 4000 + 4, .written = 4000, .flops = 3000, .functions = 1000});
    CHECK_THAT(PlanToText(plan), Catch::Contains("7.82 KiB read  3.91 KiB written  3 kflop + 1 k functions"));
  }
  CHECK_THAT(PlanToText(PlanOf(program, EngineChoice::kReference)),
             Catch::Contains("reference  %a = f32[1000] multiply  result 3.91 KiB") &&
                 Catch::Contains("7.81 KiB read  3.91 KiB written     1 kflop  last use of %h"));
}

TEST_CASE("costs: of what a fusion only takes slices of, these are read", "[costs]") {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[10,1000] parameter(0)
  y = f32[2,1000] parameter(1)
  a = f32[2,1000] slice(x), slice={[0:2], [0:1000]}
  b = f32[2,1000] slice(x), slice={[5:7], [0:1000]}
  s = f32[2,1000] add(a, y)
  t = f32[2,1000] multiply(s, b)
  u = f32[2,1000] add(t, y)
  ROOT r = f32[2,1000] maximum(u, s)
})");
  const Plan plan = PlanOf(program);
  const Computation& entry = plan.module->entry_computation();
  double slices = 0;
  std::optional<Cost> fused;
  for (const Step& step : plan.computations.back().steps) {
    const Cost cost = Costs(*plan.module).Of(entry, step);
    if (entry.instructions[step.instruction].opcode == Opcode::kSlice) slices += cost.read;
    if (step.instruction == entry.root) fused = cost;
  }
  REQUIRE(fused.has_value());
  // Either the slices are steps of their own, or the fusion reads no more than them.
  if (plan.computations.back().steps.size() == 1) CHECK(fused->read == 3 * 8000);
  CHECK(slices + fused->read <= 5 * 8000);
}

TEST_CASE("costs: a loop that a kernel runs costs its iteration", "[costs]") {
  const Program program = ProgramOf(std::string(kCalled) + R"(x = s32[] parameter(0)
ROOT w = s32[] while(x), condition=more, body=next
})");
  const Plan plan = PlanOf(program);
  const Step& loop = plan.computations.back().steps.back();
  const Cost cost = Costs(*plan.module).Of(plan.module->entry_computation(), loop);
  if (loop.kernel == nullptr) {
    CHECK(cost == Cost{});
  } else {
    CHECK(cost == Cost{.read = 4, .written = 4, .flops = 2, .per_iteration = true});
    CHECK(OperationsText(cost) == "2 flop per iteration");
  }
}

TEST_CASE("costs: calls of calls do not take for ever to count", "[costs]") {
  // Each computation maps the one before twice: 2^60 additions.
  std::string text = R"(HloModule m
map0 {
  a = f32[] parameter(0)
  ROOT s = f32[] add(a, a)
}
)";
  for (int i = 1; i <= 60; ++i) {
    text += fmt::format(R"(map{0} {{
  a = f32[] parameter(0)
  b = f32[] map(a), dimensions={{}}, to_apply=map{1}
  ROOT c = f32[] map(b), dimensions={{}}, to_apply=map{1}
}}
)",
                        i, i - 1);
  }
  text +=
      R"(ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] map(x), dimensions={0}, to_apply=map60
}
)";
  const Program program = ProgramOf(text);
  const Computation& entry = program.module().entry_computation();
  CHECK(Costs(program.module()).Of(entry, entry.root_instruction()).flops == 0x1p62);
}

TEST_CASE("costs: numbers for people", "[costs]") {
  CHECK(BytesText(0) == "0 B");
  CHECK(BytesText(1023) == "1023 B");
  CHECK(BytesText(1024) == "1 KiB");
  CHECK(BytesText(1536) == "1.5 KiB");
  CHECK(BytesText(64 << 20) == "64 MiB");
  CHECK(BytesText((1 << 20) - 1) == "1 MiB");
  CHECK(OperationsText({}) == "0 flop");
  CHECK(OperationsText({.flops = 999}) == "999 flop");
  CHECK(OperationsText({.flops = 1.073e9}) == "1.07 Gflop");
  CHECK(OperationsText({.functions = 8}) == "8 functions");
  CHECK(OperationsText({.flops = 100e3, .functions = 16.8e6}) == "100 kflop + 16.8 M functions");
  CHECK(OperationsText({.known = false}) == "? flop");
}

}  // namespace
}  // namespace assay
