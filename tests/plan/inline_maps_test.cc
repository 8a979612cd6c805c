// Maps written out as ops on whole arrays: the exact engine against the reference engine, which applies the
// computation element by element.
#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "run/engine_list.h"
#include "run/executor.h"
#include "tests/run/outcome_testing.h"

namespace assay {
namespace {

// True if both give these bits.
void BothGive(const std::string& program, const std::vector<Literal>& arguments, const std::string& wanted,
              bool inlined = true) {
  INFO(program);
  const Outcome reference = RunBy(EngineChoice::kReference, program, arguments),
                exact = RunBy(EngineChoice::kExact, program, arguments);
  INFO(exact.plan << reference.result.status() << exact.result.status());
  REQUIRE(reference.result.ok());
  REQUIRE(exact.result.ok());
  CHECK(LiteralToText(*reference.result, {.hex_floats = true}) ==
        LiteralToText(Value(wanted), {.hex_floats = true}));
  CHECK(Literal::BitwiseEqual(*exact.result, Value(wanted)));
  CHECK(reference.statistics.steps == exact.statistics.steps);
  CHECK((exact.plan.find(" map ") == std::string::npos) == inlined);
  // Every limit ends both or none.
  for (int64_t limit = 1; limit <= reference.statistics.steps; ++limit) {
    INFO(limit);
    RunOptions options;
    options.limits.max_steps = limit;
    CHECK(RunBy(EngineChoice::kReference, program, arguments, options).result.ok() ==
          RunBy(EngineChoice::kExact, program, arguments, options).result.ok());
  }
}

std::string Map(const std::string& f, const std::string& entry) {
  return "HloModule m\n" + f + "\nENTRY e {\n" + entry + "\n}\n";
}

}  // namespace

TEST_CASE("inlined maps: ops, constants, moves and unread values", "[inline_maps]") {
  BothGive(Map(R"(f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 m = f32[] multiply(a, b)
 u = f32[] subtract(a, b)
 r = f32[] reshape(m)
 k = f32[] copy(r)
 c = f32[] constant(0.5)
 ROOT s = f32[] add(k, c) })",
               R"( x = f32[2,3] parameter(0)
 y = f32[2,3] parameter(1)
 ROOT z = f32[2,3] map(x, y), dimensions={0,1}, to_apply=f)"),
           {Value("f32[2,3] {{1, 2, 3}, {4, 5, -inf}}"), Value("f32[2,3] {{2, 2, 2}, {0.5, 1, 1}}")},
           "f32[2,3] {{2.5, 4.5, 6.5}, {2.5, 5.5, -inf}}");
  // Of scalars, of no element, of other types than the operands'.
  BothGive(Map(R"(f { a = s32[] parameter(0)
 c = s32[] constant(3)
 ROOT s = s32[] add(a, c) })",
               R"( x = s32[] parameter(0)
 ROOT z = s32[] map(x), dimensions={}, to_apply=f)"),
           {Value("s32[] 4")}, "s32[] 7");
  BothGive(Map(R"(f { a = s32[] parameter(0)
 c = s32[] constant(3)
 ROOT s = pred[] compare(a, c), direction=GT })",
               R"( x = s32[4] parameter(0)
 ROOT z = pred[4] map(x), dimensions={0}, to_apply=f)"),
           {Value("s32[4] {1, 2, 3, 4}")}, "pred[4] {false, false, false, true}");
  BothGive(Map(R"(f { a = f16[] parameter(0)
 ROOT s = f16[] exponential(a) })",
               R"( x = f16[0,2] parameter(0)
 ROOT z = f16[0,2] map(x), dimensions={0,1}, to_apply=f)"),
           {Value("f16[0,2] {}")}, "f16[0,2] {}");
  BothGive(Map(R"(f { a = c64[] parameter(0)
 p = f32[] real(a)
 q = f32[] imag(a)
 ROOT s = c64[] complex(q, p) })",
               R"( x = c64[2] parameter(0)
 ROOT z = c64[2] map(x), dimensions={0}, to_apply=f)"),
           {Value("c64[2] {(1, 2), (3, -0)}")}, "c64[2] {(2, 1), (-0, 3)}");
}

TEST_CASE("inlined maps: a root that is a parameter, a constant or a layout of its own", "[inline_maps]") {
  BothGive(Map(R"(f { a = s8[] parameter(0)
 ROOT b = s8[] parameter(1) })",
               R"( x = s8[3] parameter(0)
 y = s8[3] parameter(1)
 ROOT z = s8[3] map(x, y), dimensions={0}, to_apply=f)"),
           {Value("s8[3] {1, 2, 3}"), Value("s8[3] {4, 5, 6}")}, "s8[3] {4, 5, 6}");
  BothGive(Map(R"(f { a = s8[] parameter(0)
 ROOT c = f64[] constant(2.5) })",
               R"( x = s8[3] parameter(0)
 ROOT z = f64[3] map(x), dimensions={0}, to_apply=f)"),
           {Value("s8[3] {1, 2, 3}")}, "f64[3] {2.5, 2.5, 2.5}");
  // Only bitcast shows a layout: that of the map, not of what it reads.
  for (const char* root : {"ROOT b = f32[] negate(a)", R"(n = f32[] negate(a)
 ROOT b = f32[] negate(n))"}) {
    const bool twice = std::string(root)[0] == 'n';
    BothGive(Map(fmt::format(R"(f {{ a = f32[] parameter(0)
 {} }})",
                             root),
                 R"( x = f32[2,3]{1,0} parameter(0)
 m = f32[2,3]{0,1} map(x), dimensions={0,1}, to_apply=f
 ROOT b = f32[6]{0} bitcast(m))"),
             {Value("f32[2,3] {{1, 2, 3}, {4, 5, 6}}")},
             twice ? "f32[6] {1, 4, 2, 5, 3, 6}" : "f32[6] {-1, -4, -2, -5, -3, -6}");
  }
}

TEST_CASE("inlined maps: bits of NaNs", "[inline_maps]") {
  BothGive(Map(R"(f { a = f32[] parameter(0)
 ROOT b = u32[] bitcast-convert(a) })",
               R"( k = u32[4] parameter(0)
 x = f32[4] bitcast-convert(k)
 ROOT z = u32[4] map(x), dimensions={0}, to_apply=f)"),
           {Value("u32[4] {2143289345, 2139095041, 4290772993, 1}")},
           "u32[4] {2143289345, 2139095041, 4290772993, 1}");
}

TEST_CASE("inlined maps: of maps and calls, in reducers and in loops", "[inline_maps]") {
  const std::string computations =
      R"(g { a = f32[] parameter(0)
 c = f32[] constant(2)
 ROOT s = f32[] multiply(a, c) }
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 m = f32[] map(a), dimensions={}, to_apply=g
 n = f32[] call(b), to_apply=g
 ROOT s = f32[] subtract(m, n) }
)";
  BothGive(Map(computations,
               R"( x = f32[3] parameter(0)
 y = f32[3] parameter(1)
 ROOT z = f32[3] map(x, y), dimensions={0}, to_apply=f)"),
           {Value("f32[3] {1, 2, 3}"), Value("f32[3] {4, 6, 8}")}, "f32[3] {-6, -8, -10}");
  BothGive(Map(computations,
               R"( x = f32[3] parameter(0)
 i = f32[] constant(1)
 ROOT z = f32[] reduce(x, i), dimensions={0}, to_apply=f)"),
           {Value("f32[3] {1, 2, 3}")}, "f32[] -14");
}

TEST_CASE("inlined maps: what is no elementwise op, and run-time sizes, stay", "[inline_maps]") {
  const std::string sum =
      R"(add { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
f { a = s32[] parameter(0)
 w = s32[3] broadcast(a), dimensions={}
 z = s32[] constant(0)
 ROOT r = s32[] reduce(w, z), dimensions={0}, to_apply=add })";
  const std::string program = Map(sum, R"( x = s32[2] parameter(0)
 ROOT z = s32[2] map(x), dimensions={0}, to_apply=f)");
  const Outcome exact = RunBy(EngineChoice::kExact, program, {Value("s32[2] {1, 5}")});
  REQUIRE(exact.result.ok());
  CHECK(Literal::BitwiseEqual(*exact.result, Value("s32[2] {3, 15}")));
  CHECK_THAT(exact.plan, Catch::Contains(" map "));
  const Outcome dynamic = RunBy(EngineChoice::kExact,
                                Map(R"(f { a = s32[] parameter(0)
 ROOT s = s32[] negate(a) })",
                                    R"( x = s32[4] parameter(0)
 n = s32[] constant(2)
 d = s32[<=4] set-dimension-size(x, n), dimensions={0}
 ROOT z = s32[<=4] map(d), dimensions={0}, to_apply=f)"),
                                {Value("s32[4] {1, 2, 3, 4}")});
  REQUIRE(dynamic.result.ok());
  CHECK_THAT(dynamic.plan, Catch::Contains(" map "));
  CHECK(dynamic.result->dynamic_size(0) == 2);
}

}  // namespace assay
