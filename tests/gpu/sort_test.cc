// sort, top-k and rng-bit-generator by the engine "gpu" on the emulated driver.
#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

// A sort of one operand by its own elements.
std::string SortText(std::string_view type, std::string_view sizes, int along, std::string_view compare) {
  return fmt::format(R"(HloModule m
less {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = pred[] compare(a, b), {3}
}}
ENTRY e {{
  x = {0}{1} parameter(0)
  ROOT r = {0}{1} sort(x), dimensions={{{2}}}, is_stable=true, to_apply=less
}}
)",
                     type, sizes, along, compare);
}

}  // namespace

TEST_CASE("sorts of every type and direction, along any dimension", "[gpu][sort]") {
  for (const char* type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "pred", "s4"})
    CheckOnDevice(SortText(type, "[3,37,2]", 1, "direction=LT"), 1);
  for (const char* direction : {"GT", "LE", "GE"})
    CheckOnDevice(SortText("s16", "[3,37,2]", 1, fmt::format("direction={}", direction)), 1);
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2"}) {
    for (const char* direction : {"LT", "GE"}) {
      CheckOnDevice(SortText(type, "[70,3]", 0, fmt::format("direction={}, type=TOTALORDER", direction)), 2);
    }
  }
  CheckOnDevice(SortText("f32", "[1]", 0, "direction=LT"), 0);
}

TEST_CASE("sorts of many lines, and of lines over several tiles", "[gpu][sort]") {
  CheckOnDevice(SortText("s32", "[300,5]", 1, "direction=LT"), 0);
  CheckOnDevice(SortText("s8", "[2,9001]", 1, "direction=GT"), 0);
  CheckOnDevice(SortText("u64", "[5000]", 0, "direction=LT"), 0);
  // So many tiles that a block has one digit's counts.
  CheckOnDevice(SortText("u8", "[135200]", 0, "direction=LT"), 0);
}

TEST_CASE("floats that are compared as numbers are sorted while none is NaN, with both zeros equal",
          "[gpu][sort]") {
  const std::string text = fmt::format(R"(HloModule m
less {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}}
ENTRY e {{
  x = f32[9] constant({{0, -0.0, 1, -1, 0, inf, -0.0, -inf, 1e-45}})
  i = s32[9] iota(), iota_dimension=0
  ROOT r = (f32[9], s32[9]) sort(x, i), dimensions={{0}}, is_stable=true, to_apply=less
}}
)");
  CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("[radix]"));
}

TEST_CASE("a NaN among floats that are compared as numbers leaves the sort to the CPU", "[gpu][sort]") {
  const Program program = ProgramOf(SortText("f32", "[9]", 0, "direction=LT"));
  const Plan plan = PlanOf(program, Emulated());
  const std::vector<Literal> arguments{Literal::FromDoubles(
      ElementType::kF32, std::vector<int64_t>{9}, std::vector<double>{3, 1, NAN, 2, 9, -1, 0, 4, 5})};
  Executor executor(plan, {});
  const absl::StatusOr<Literal> found = executor.Run(arguments);
  REQUIRE(found.ok());
  REQUIRE(!executor.statistics().fallbacks.empty());
  CHECK_THAT(executor.statistics().fallbacks[0].reason, Catch::Contains("NaNs among keys"));
  CHECK(Literal::BitwiseEqual(*found, *program.Run(arguments, {}, EnginesOf(EngineChoice::kReference))));
}

TEST_CASE("sorts of several operands by several keys", "[gpu][sort]") {
  for (const char* direction : {"LT", "GT"}) {
    const std::string text = fmt::format(R"(HloModule m
less {{
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  c = f64[] parameter(2)
  d = f64[] parameter(3)
  e = c128[] parameter(4)
  f = c128[] parameter(5)
  first = pred[] compare(a, b), direction=LT
  equal = pred[] compare(a, b), direction=EQ
  second = pred[] compare(c, d), direction={}, type=TOTALORDER
  both = pred[] and(equal, second)
  ROOT o = pred[] or(first, both)
}}
ENTRY e {{
  x = s8[4,50] parameter(0)
  y = f64[4,50] parameter(1)
  z = c128[4,50] parameter(2)
  low = s8[] constant(3)
  most = s8[4,50] broadcast(low), dimensions={{}}
  few = s8[4,50] remainder(x, most)
  ROOT r = (s8[4,50], f64[4,50], c128[4,50]) sort(few, y, z), dimensions={{1}}, to_apply=less, is_stable=true
}}
)",
                                         direction);
    CheckOnDevice(text);
  }
}

TEST_CASE("the largest and the least elements of rows, with their places", "[gpu][sort]") {
  for (const char* type : {"f32", "bf16", "s32", "u8", "f64", "pred"}) {
    for (const int k : {1, 33}) {
      for (const char* largest : {"true", "false"}) {
        CheckOnDevice(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[3,2,33] parameter(0)
  ROOT r = ({0}[3,2,{1}], s32[3,2,{1}]) topk(x), k={1}, largest={2}
}}
)",
                                  type, k, largest),
                      1);
      }
    }
  }
}

TEST_CASE("results of several arrays stay on the device", "[gpu][sort]") {
  const std::string plan = PlanOfEqualRun(R"(HloModule m
ENTRY e {
  x = f32[3,33] parameter(0)
  t = (f32[3,4], s32[3,4]) topk(x), k=4, largest=true
  v = f32[3,4] get-tuple-element(t), index=0
  ROOT r = f32[3,4] negate(v)
}
)");
  CHECK_THAT(plan, Catch::Contains("gpu        %t = ") && Catch::Contains("gpu        %r = "));
  CHECK_THAT(plan.substr(plan.find("%r = ")), !Catch::Contains("to the device"));
}

TEST_CASE("random bits of every algorithm, type and shape", "[gpu][random]") {
  for (const char* algorithm : {"rng_three_fry", "rng_philox", "rng_default"}) {
    for (const char* bits : {"u32[6,5]", "u32[5,7]", "u32[3,5,4]", "u64[7]", "u8[2,9]", "s4[9,3]", "u4[11]",
                             "u16[13]", "f32[33]", "s64[2,3]", "u32[]", "s8[1,1]"}) {
      for (const int words : {2, 3}) {
        if (words == 3 && std::string_view(algorithm) == "rng_three_fry") continue;
        const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  s = u64[{0}] parameter(0)
  ROOT r = (u64[{0}], {1}) rng-bit-generator(s), algorithm={2}
}}
)",
                                             words, bits, algorithm);
        CheckOnDevice(text, 2);
        // A counter that runs over.
        PlanOfEqualRun(text, {Literal::FromInts(ElementType::kU64, std::vector<int64_t>{words},
                                                words == 2 ? std::vector<int64_t>{7, -2}
                                                           : std::vector<int64_t>{7, -2, -1})});
      }
    }
  }
}

}  // namespace assay::gpu
