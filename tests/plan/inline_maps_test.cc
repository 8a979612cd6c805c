// Maps written out as ops on whole arrays: the exact engine against the reference engine, which applies the computation
// element by element.
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
  BothGive(
      Map("f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] multiply(a, b)\n"
          " u = f32[] subtract(a, b)\n r = f32[] reshape(m)\n k = f32[] copy(r)\n c = f32[] constant(0.5)\n"
          " ROOT s = f32[] add(k, c) }",
          " x = f32[2,3] parameter(0)\n y = f32[2,3] parameter(1)\n"
          " ROOT z = f32[2,3] map(x, y), dimensions={0,1}, to_apply=f"),
      {Value("f32[2,3] {{1, 2, 3}, {4, 5, -inf}}"), Value("f32[2,3] {{2, 2, 2}, {0.5, 1, 1}}")},
      "f32[2,3] {{2.5, 4.5, 6.5}, {2.5, 5.5, -inf}}");
  // Of scalars, of no element, of other types than the operands'.
  BothGive(Map("f { a = s32[] parameter(0)\n c = s32[] constant(3)\n ROOT s = s32[] add(a, c) }",
               " x = s32[] parameter(0)\n ROOT z = s32[] map(x), dimensions={}, to_apply=f"),
           {Value("s32[] 4")}, "s32[] 7");
  BothGive(Map("f { a = s32[] parameter(0)\n c = s32[] constant(3)\n ROOT s = pred[] compare(a, c), "
               "direction=GT }",
               " x = s32[4] parameter(0)\n ROOT z = pred[4] map(x), dimensions={0}, to_apply=f"),
           {Value("s32[4] {1, 2, 3, 4}")}, "pred[4] {false, false, false, true}");
  BothGive(Map("f { a = f16[] parameter(0)\n ROOT s = f16[] exponential(a) }",
               " x = f16[0,2] parameter(0)\n ROOT z = f16[0,2] map(x), dimensions={0,1}, to_apply=f"),
           {Value("f16[0,2] {}")}, "f16[0,2] {}");
  BothGive(Map("f { a = c64[] parameter(0)\n p = f32[] real(a)\n q = f32[] imag(a)\n ROOT s = c64[] "
               "complex(q, p) }",
               " x = c64[2] parameter(0)\n ROOT z = c64[2] map(x), dimensions={0}, to_apply=f"),
           {Value("c64[2] {(1, 2), (3, -0)}")}, "c64[2] {(2, 1), (-0, 3)}");
}

TEST_CASE("inlined maps: a root that is a parameter, a constant or a layout of its own", "[inline_maps]") {
  BothGive(Map("f { a = s8[] parameter(0)\n ROOT b = s8[] parameter(1) }",
               " x = s8[3] parameter(0)\n y = s8[3] parameter(1)\n ROOT z = s8[3] map(x, y), dimensions={0}, "
               "to_apply=f"),
           {Value("s8[3] {1, 2, 3}"), Value("s8[3] {4, 5, 6}")}, "s8[3] {4, 5, 6}");
  BothGive(Map("f { a = s8[] parameter(0)\n ROOT c = f64[] constant(2.5) }",
               " x = s8[3] parameter(0)\n ROOT z = f64[3] map(x), dimensions={0}, to_apply=f"),
           {Value("s8[3] {1, 2, 3}")}, "f64[3] {2.5, 2.5, 2.5}");
  // Only bitcast shows a layout: that of the map, not of what it reads.
  for (const char* root : {"ROOT b = f32[] negate(a)", "n = f32[] negate(a)\n ROOT b = f32[] negate(n)"}) {
    const bool twice = std::string(root)[0] == 'n';
    BothGive(Map(fmt::format("f {{ a = f32[] parameter(0)\n {} }}", root),
                 " x = f32[2,3]{1,0} parameter(0)\n m = f32[2,3]{0,1} map(x), dimensions={0,1}, to_apply=f\n"
                 " ROOT b = f32[6]{0} bitcast(m)"),
             {Value("f32[2,3] {{1, 2, 3}, {4, 5, 6}}")},
             twice ? "f32[6] {1, 4, 2, 5, 3, 6}" : "f32[6] {-1, -4, -2, -5, -3, -6}");
  }
}

TEST_CASE("inlined maps: bits of NaNs", "[inline_maps]") {
  BothGive(Map("f { a = f32[] parameter(0)\n ROOT b = u32[] bitcast-convert(a) }",
               " k = u32[4] parameter(0)\n x = f32[4] bitcast-convert(k)\n"
               " ROOT z = u32[4] map(x), dimensions={0}, to_apply=f"),
           {Value("u32[4] {2143289345, 2139095041, 4290772993, 1}")},
           "u32[4] {2143289345, 2139095041, 4290772993, 1}");
}

TEST_CASE("inlined maps: of maps and calls, in reducers and in loops", "[inline_maps]") {
  const std::string computations =
      "g { a = f32[] parameter(0)\n c = f32[] constant(2)\n ROOT s = f32[] multiply(a, c) }\n"
      "f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] map(a), dimensions={}, to_apply=g\n"
      " n = f32[] call(b), to_apply=g\n ROOT s = f32[] subtract(m, n) }\n";
  BothGive(Map(computations,
               " x = f32[3] parameter(0)\n y = f32[3] parameter(1)\n"
               " ROOT z = f32[3] map(x, y), dimensions={0}, to_apply=f"),
           {Value("f32[3] {1, 2, 3}"), Value("f32[3] {4, 6, 8}")}, "f32[3] {-6, -8, -10}");
  BothGive(Map(computations,
               " x = f32[3] parameter(0)\n i = f32[] constant(1)\n"
               " ROOT z = f32[] reduce(x, i), dimensions={0}, to_apply=f"),
           {Value("f32[3] {1, 2, 3}")}, "f32[] -14");
}

TEST_CASE("inlined maps: what is no elementwise op, and run-time sizes, stay", "[inline_maps]") {
  const std::string sum =
      "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n"
      "f { a = s32[] parameter(0)\n w = s32[3] broadcast(a), dimensions={}\n z = s32[] constant(0)\n"
      " ROOT r = s32[] reduce(w, z), dimensions={0}, to_apply=add }";
  const std::string program =
      Map(sum, " x = s32[2] parameter(0)\n ROOT z = s32[2] map(x), dimensions={0}, to_apply=f");
  const Outcome exact = RunBy(EngineChoice::kExact, program, {Value("s32[2] {1, 5}")});
  REQUIRE(exact.result.ok());
  CHECK(Literal::BitwiseEqual(*exact.result, Value("s32[2] {3, 15}")));
  CHECK_THAT(exact.plan, Catch::Contains(" map "));
  const Outcome dynamic = RunBy(EngineChoice::kExact,
                                Map("f { a = s32[] parameter(0)\n ROOT s = s32[] negate(a) }",
                                    " x = s32[4] parameter(0)\n n = s32[] constant(2)\n d = s32[<=4] "
                                    "set-dimension-size(x, n), dimensions={0}\n"
                                    " ROOT z = s32[<=4] map(d), dimensions={0}, to_apply=f"),
                                {Value("s32[4] {1, 2, 3, 4}")});
  REQUIRE(dynamic.result.ok());
  CHECK_THAT(dynamic.plan, Catch::Contains(" map "));
  CHECK(dynamic.result->dynamic_size(0) == 2);
}

}  // namespace assay
