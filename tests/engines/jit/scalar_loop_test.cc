// While loops of scalars as generated code: bits and counted steps of the interpreter, however often they
// iterate.
#include "engines/jit/scalar_loop.h"

#include <catch2/catch.hpp>

#include "tests/engines/jit/jit_testing.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::vector<const Engine*> LoopEngines(Isa isa) {
  return {&jit::LoopEngine(isa), &native::NativeEngine(isa)};
}

struct Outcome {
  absl::StatusOr<Literal> result = absl::UnknownError("");
  int64_t steps = 0;
};
Outcome RunOn(const Program& program, std::span<const Engine* const> engines, const RunOptions& options) {
  const Plan plan = PlanOf(program, engines);
  Executor executor(plan, options);
  absl::StatusOr<Literal> result = executor.Run({});
  return {std::move(result), executor.statistics().steps};
}

// Body and condition of a loop from 0 to %d that keeps two values.
constexpr std::string_view kCount = R"(HloModule m
body {
  s = (s32[], f64[], f64[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f64[] get-tuple-element(s), index=1
  b = f64[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  half = f64[] constant(0.7)
  m = f64[] multiply(b, half)
  c = f64[] add(a, m)
  ROOT r = (s32[], f64[], f64[]) tuple(j, b, c)
}
condition {
  s = (s32[], f64[], f64[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(LIMIT)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] constant(0)
  a = f64[] constant(1)
  b = f64[] constant(0.1)
  s = (s32[], f64[], f64[]) tuple(i, a, b)
  ROOT w = (s32[], f64[], f64[]) while(s), condition=condition, body=body
})";

std::string WithLimit(std::string_view text, int64_t limit) {
  std::string whole(text);
  whole.replace(whole.find("LIMIT"), 5, std::to_string(limit));
  return whole;
}

void CheckAgainstReference(const std::string& text) {
  const Program program = ProgramOf(text);
  const Outcome wanted = RunOn(program, {}, {});
  REQUIRE(wanted.result.ok());
  for (Isa isa : JitIsas()) {
    const Outcome found = RunOn(program, LoopEngines(isa), {});
    REQUIRE(found.result.ok());
    CHECK(Literal::BitwiseEqual(*found.result, *wanted.result));
    CHECK(found.steps == wanted.steps);
  }
}

TEST_CASE("scalar loop: any number of iterations, and values that change places", "[jit][loop]") {
  for (int64_t iterations : {0, 1, 63, 64, 65, 66, 1000, 70'000})
    CheckAgainstReference(WithLimit(kCount, iterations));
}

TEST_CASE("scalar loop: Fibonacci numbers", "[jit][loop]") {
  // F(90) = 2880067194370816120, by hand-checked tables; the loop keeps (i, F(i), F(i+1)).
  const Program program = ProgramOf(R"(HloModule m
body {
  s = (u8[], (u64[], u64[])) parameter(0)
  i = u8[] get-tuple-element(s), index=0
  p = (u64[], u64[]) get-tuple-element(s), index=1
  a = u64[] get-tuple-element(p), index=0
  b = u64[] get-tuple-element(p), index=1
  one = u8[] constant(1)
  j = u8[] add(i, one)
  c = u64[] add(a, b)
  q = (u64[], u64[]) tuple(b, c)
  ROOT r = (u8[], (u64[], u64[])) tuple(j, q)
}
condition {
  s = (u8[], (u64[], u64[])) parameter(0)
  i = u8[] get-tuple-element(s), index=0
  n = u8[] constant(90)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = u8[] constant(0)
  a = u64[] constant(0)
  b = u64[] constant(1)
  p = (u64[], u64[]) tuple(a, b)
  s = (u8[], (u64[], u64[])) tuple(i, p)
  w = (u8[], (u64[], u64[])) while(s), condition=condition, body=body
  q = (u64[], u64[]) get-tuple-element(w), index=1
  ROOT f = u64[] get-tuple-element(q), index=0
})");
  for (Isa isa : JitIsas()) {
    const Outcome found = RunOn(program, LoopEngines(isa), {});
    REQUIRE(found.result.ok());
    CHECK(found.result->shape().ToString() == "u64[]");
    uint64_t value;
    std::memcpy(&value, found.result->data(), 8);
    CHECK(value == 2880067194370816120u);
  }
}

TEST_CASE("scalar loop: calls, all kinds of types, and arrays that stay", "[jit][loop]") {
  CheckAgainstReference(R"(HloModule m
mix {
  x = f32[] parameter(0)
  h = bf16[] parameter(1)
  w = f32[] convert(h)
  d = f32[] divide(x, w)
  r = f32[] sqrt(d)
  ROOT t = (f32[], bf16[]) tuple(r, h)
}
body {
  s = (s64[], f32[], bf16[], pred[], s8[], f32[3], f16[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  h = bf16[] get-tuple-element(s), index=2
  p = pred[] get-tuple-element(s), index=3
  k = s8[] get-tuple-element(s), index=4
  v = f32[3] get-tuple-element(s), index=5
  g = f16[] get-tuple-element(s), index=6
  m = (f32[], bf16[]) call(x, h), to_apply=mix
  y = f32[] get-tuple-element(m), index=0
  q = pred[] not(p)
  three = s8[] constant(3)
  l = s8[] multiply(k, three)
  z = f32[] select(p, y, x)
  c = f32[] constant(1.25)
  u = f32[] add(z, c)
  hh = bf16[] convert(u)
  gg = f16[] convert(u)
  ggg = f16[] multiply(g, gg)
  e = s64[] constant(1)
  j = s64[] subtract(i, e)
  ROOT r = (s64[], f32[], bf16[], pred[], s8[], f32[3], f16[]) tuple(j, u, hh, q, l, v, ggg)
}
condition {
  s = (s64[], f32[], bf16[], pred[], s8[], f32[3], f16[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  n = s64[] constant(0)
  ROOT c = pred[] compare(i, n), direction=NE
}
ENTRY e {
  i = s64[] constant(300)
  x = f32[] constant(-3)
  h = bf16[] constant(2)
  p = pred[] constant(true)
  k = s8[] constant(1)
  v = f32[3] constant({1, nan, -0})
  g = f16[] constant(1)
  s = (s64[], f32[], bf16[], pred[], s8[], f32[3], f16[]) tuple(i, x, h, p, k, v, g)
  ROOT w = (s64[], f32[], bf16[], pred[], s8[], f32[3], f16[]) while(s), condition=condition, body=body
})");
}

// The rounds of a counter-based generator: arrays that change places,
// single elements of one of them for all of another.
constexpr std::string_view kRounds = R"(HloModule m
body {
  s = (s32[], u32[SHAPE], u32[SHAPE], u32[4], u32[2,2], f16[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = u32[SHAPE] get-tuple-element(s), index=1
  y = u32[SHAPE] get-tuple-element(s), index=2
  r = u32[4] get-tuple-element(s), index=3
  t = u32[2,2] get-tuple-element(s), index=4
  h = f16[4] get-tuple-element(s), index=5
  one = s32[] constant(1)
  j = s32[] add(i, one)
  r2 = u32[1] slice(r), slice={[2:3]}
  r2s = u32[] reshape(r2)
  by = u32[SHAPE] broadcast(r2s), dimensions={}
  t1 = u32[1,1] slice(t), slice={[1:2], [0:1]}
  t1s = u32[] reshape(t1)
  back = u32[SHAPE] broadcast(t1s), dimensions={}
  left = u32[SHAPE] shift-left(x, by)
  right = u32[SHAPE] shift-right-logical(x, back)
  turned = u32[SHAPE] or(left, right)
  sum = u32[SHAPE] add(turned, y)
  xs = u32[SHAPE] xor(sum, x)
  bytes = u8[SHAPE] convert(xs)
  odd = pred[SHAPE] convert(bytes)
  z = u32[SHAPE] select(odd, xs, sum)
  three = f16[4] constant({3, -0.75, 1.25, -7})
  g = f16[4] multiply(h, three)
  g3 = f16[1] slice(g), slice={[3:4]}
  g3s = f16[] reshape(g3)
  g3w = f16[4] broadcast(g3s), dimensions={}
  half = f16[4] constant({0.5, 0, nan, 2})
  k = f16[4] clamp(half, g, g3w)
  rt = u32[2,2] reshape(r)
  tr = u32[4] reshape(t)
  ROOT n = (s32[], u32[SHAPE], u32[SHAPE], u32[4], u32[2,2], f16[4]) tuple(j, z, turned, tr, rt, k)
}
condition {
  s = (s32[], u32[SHAPE], u32[SHAPE], u32[4], u32[2,2], f16[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(LIMIT)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] constant(0)
  x = u32[SHAPE] iota(), iota_dimension=0
  m = u32[] constant(2654435761)
  mw = u32[SHAPE] broadcast(m), dimensions={}
  y = u32[SHAPE] multiply(x, mw)
  r = u32[4] constant({13, 15, 26, 6})
  t = u32[2,2] constant({{17, 29}, {6, 40}})
  h = f16[4] constant({1, 2, nan, 0.125})
  s = (s32[], u32[SHAPE], u32[SHAPE], u32[4], u32[2,2], f16[4]) tuple(i, x, y, r, t, h)
  ROOT w = (s32[], u32[SHAPE], u32[SHAPE], u32[4], u32[2,2], f16[4]) while(s), condition=condition, body=body
})";

std::string OfShape(std::string text, std::string_view shape) {
  for (size_t at = text.find("SHAPE"); at != std::string::npos; at = text.find("SHAPE", at))
    text.replace(at, 5, shape);
  return text;
}

TEST_CASE("scalar loop: arrays of as many elements as there are lanes, and more", "[jit][loop]") {
  for (std::string_view shape : {"1", "2", "7", "8", "9", "5,3", "16", "17"}) {
    for (int64_t iterations : {0, 1, 64, 65, 66, 500})
      CheckAgainstReference(OfShape(WithLimit(kRounds, iterations), shape));
  }
}

TEST_CASE("scalar loop: code is made once the iterations of all runs are worth it", "[jit][loop]") {
  const Program program = ProgramOf(OfShape(WithLimit(kRounds, 5), "7"));
  const Outcome wanted = RunOn(program, {}, {});
  for (Isa isa : JitIsas()) {
    const Plan plan = PlanOf(program, LoopEngines(isa));
    for (int run = 0; run < 30; ++run) {
      Executor executor(plan, {});
      const absl::StatusOr<Literal> result = executor.Run({});
      REQUIRE(result.ok());
      CHECK(Literal::BitwiseEqual(*result, *wanted.result));
      CHECK(executor.statistics().steps == wanted.steps);
    }
  }
}

TEST_CASE("scalar loop: elements of 64 bits beside an array of 16 that stays", "[jit][loop]") {
  std::string text = WithLimit(kCount, 200);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"f64[])", "f64[], f32[16])"},
                                 {"ROOT r = (s32[], f64[], f64[], f32[16]) tuple(j, b, c)",
                                  R"(v = f32[16] get-tuple-element(s), index=3
  ROOT r = (s32[], f64[], f64[], f32[16]) tuple(j, b, c, v))"},
                                 {"tuple(i, a, b)", "tuple(i, a, b, v)"},
                                 {"b = f64[] constant(0.1)", R"(b = f64[] constant(0.1)
 v = f32[16] iota(), iota_dimension=0)"}}) {
    REQUIRE(text.find(from) != std::string::npos);
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  CheckAgainstReference(text);
  const Program program = ProgramOf(text);
  for (Isa isa : JitIsas()) {
    const auto kernel = PrepareRoot(jit::LoopEngine(isa), program.module());
    CHECK(kernel.ok());
  }
}

TEST_CASE("scalar loop: one value that is no tuple", "[jit][loop]") {
  CheckAgainstReference(R"(HloModule m
body { x = f64[] parameter(0)
 h = f64[] constant(0.5)
 ROOT y = f64[] multiply(x, h) }
condition { x = f64[] parameter(0)
 z = f64[] constant(0)
 ROOT c = pred[] compare(x, z), direction=GT }
ENTRY e { x = f64[] constant(1)
 ROOT w = f64[] while(x), condition=condition, body=body })");
}

TEST_CASE("scalar loop: an endless one ends at --max-steps and at an interruption", "[jit][loop]") {
  const Program program = ProgramOf(WithLimit(kCount, 2'000'000'000));
  for (Isa isa : JitIsas()) {
    RunOptions options;
    options.limits.max_steps = 1'000'000;
    CHECK(absl::IsResourceExhausted(RunOn(program, LoopEngines(isa), options).result.status()));
    options = {};
    options.interrupted = [] { return true; };
    CHECK(absl::IsCancelled(RunOn(program, LoopEngines(isa), options).result.status()));
  }
}

TEST_CASE("scalar loop: what it declines, and why", "[jit][loop]") {
  const auto reason = [](std::string text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    const auto kernel = PrepareRoot(jit::LoopEngine(Isa::kAvx2), ProgramOf(text).module());
    return std::string(kernel.status().message().data(), kernel.status().message().size());
  };
  const std::string count = WithLimit(kCount, 9);
  CHECK(reason(count, "multiply(b, half)", "multiply(b, half)").empty());
  CHECK(reason(count, "multiply(b, half)", "power(b, half)") == "no code for power of f64");
  CHECK(reason(count, "f64[]", "f8e5m2[]") == "element type f8e5m2");
  CHECK(reason(count, "c = f64[] add(a, m)",
               R"(v = f64[1] reshape(m)
 w = f64[] reshape(v)
 c = f64[] add(a, w))")
            .empty());
  const auto with_array = [&](std::string_view array, std::string_view slice) {
    return reason(count, "c = f64[] add(a, m)",
                  fmt::format(R"(v = {} broadcast(m), dimensions={{}}
 p = f64[1] slice(v), slice={{[{}]}}
 w = f64[] reshape(p)
 c = f64[] add(a, w))",
                              array, slice));
  };
  CHECK(with_array("f64[4]", "3:4").empty());
  CHECK(with_array("f64[5]", "3:4") == "5 elements exceed 4 vector lanes");
  CHECK(with_array("f64[9]", "3:4") == "broadcast gives f64[9]");
  CHECK(reason(count, "c = f64[] add(a, m)",
               R"(v = f64[3] broadcast(m), dimensions={}
 p = f64[2] slice(v), slice={[1:3]}
 q = f64[1] slice(p), slice={[0:1]}
 w = f64[] reshape(q)
 c = f64[] add(a, w))") == "no code for slice");
  const std::string rng = reason(count, "m = f64[] multiply(b, half)",
                                 R"(u = f64[] rng(half, b), distribution=rng_uniform
 m = f64[] multiply(b, u))");
  CHECK(rng == "rng in the computation");
}

}  // namespace
}  // namespace assay::testing
