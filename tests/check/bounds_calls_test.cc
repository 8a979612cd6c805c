// Operations that stand for a computation, or for a part of one.
#include <algorithm>
#include <string>
#include <utility>

#include "tests/check/bounds_testing.h"

namespace assay::testing {

// An asynchronous sum: that of the call.
TEST_CASE("bounds: asynchronous operations have the bounds of what they wrap", "[check][bounds]") {
  const std::string text = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
wrapped { p = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add }
ENTRY e { x = f32[4] parameter(0)
  start = ((f32[4]), f32[], s32[]) async-start(x), calls=wrapped
  update = ((f32[4]), f32[], s32[]) async-update(start), calls=wrapped
  ROOT done = f32[] async-done(update), calls=wrapped })";
  const BoundedOutputs bounded =
      Bounded(text, {Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}})});
  CHECK(bounded.unchecked.empty());
  REQUIRE(bounded.outputs[0].radius.has_value());
  CHECK(bounded.outputs[0].radius->GetDouble(0) == Approx(kRadiusBehindTen).epsilon(1e-3));
}

// x y + 1 / x of exact numbers, with a profile that has an ulp for divisions.
TEST_CASE("bounds: map has the bounds of what is mapped", "[check][bounds]") {
  const std::string body = R"(  one = f32[SIZE] constant(ONE)
  q = f32[SIZE] divide(one, x)
  p = f32[SIZE] multiply(x, y)
)";
  const auto of = [&](std::string size, const std::string& one) {
    std::string text = body;
    for (const auto& [what, by] : {std::pair<std::string, std::string>("SIZE", size), {"ONE", one}}) {
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;) text.replace(at, what.size(), by);
    }
    return text;
  };
  const std::vector<Literal> arguments = {Literal::FromDoubles(ElementType::kF32, {{2}}, {{3, 7}}),
                                          Literal::FromDoubles(ElementType::kF32, {{2}}, {{5, 1.5}})};
  const std::string mapped = "f { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n" + of("", "1") +
                             "  ROOT s = f32[] add(q, p) }\nENTRY e { x = f32[2] parameter(0)\n  y = f32[2] "
                             "parameter(1)\n  ROOT m = f32[2] map(x, y), dimensions={0}, to_apply=f }";
  const std::string plain = "ENTRY e { x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n" +
                            of("2", "{1, 1}") + "  ROOT s = f32[2] add(q, p) }";
  const std::vector<double> radii = RadiiOf(mapped, arguments, "ulps divide * 1\n");
  CHECK(radii == RadiiOf(plain, arguments, "ulps divide * 1\n"));
  CHECK(radii[0] > 0);
}

TEST_CASE("bounds: starts of collectives move radii as the collectives do", "[check][bounds]") {
  const auto radius = [](const std::string& start, const std::string& done) {
    return RadiusBehindTen("  one = f32[1] reshape(ten)\n  start = " + start + "\n  ROOT done = f32[1] " +
                           done + "\n");
  };
  CHECK(radius("(f32[1], f32[1]) all-gather-start(one), dimensions={0}, replica_groups={{0}}",
               "all-gather-done(start)") == Approx(kRadiusBehindTen).epsilon(1e-3));
  CHECK(radius("(f32[1], f32[1]) collective-permute-start(one), source_target_pairs={{0,0}}",
               "collective-permute-done(start)") == Approx(kRadiusBehindTen).epsilon(1e-3));
}

// The ends of a result are derived for those that read them. The state of a loop has none: what is called for
// it alone gives a value and a radius, and two ends more where a maximum reads it.
TEST_CASE("bounds: ends of what is called are for its readers", "[check][bounds]") {
  const auto given = [](const std::string& reader, const std::string& state) {
    const std::string text = R"(HloModule m
called { x = f32[] parameter(0)
  ROOT r = f32[] add(x, x) }
body { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] call(x), to_apply=called
)" + reader + R"(
  ROOT t = (s32[], f32[]) tuple(j, )" +
                             state + R"() }
test { s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[]) tuple(z, x)
  ROOT w = (s32[], f32[]) while(s), condition=test, body=body })";
    const absl::StatusOr<Program> program = Program::Load("test.hlo", text);
    REQUIRE(program.ok());
    const absl::StatusOr<DerivedBounds> bounds =
        DeriveBounds(program->verified(), *ParseProfile("test", "inherit strict\nulps * * 1\n"));
    REQUIRE(bounds.ok());
    size_t most = 0;
    for (const Computation& computation : bounds->module.computations) {
      if (computation.name.starts_with("called") && computation.root_instruction().shape->IsTuple())
        most = std::max(most, computation.root_instruction().shape->elements().size());
    }
    return most;
  };
  CHECK(given("", "y") == 2);
  CHECK(given("  m = f32[] maximum(y, x)", "m") == 4);
}

}  // namespace assay::testing
