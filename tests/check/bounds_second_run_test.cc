// Forms of loops are derived in a second run, of loops that the first one leaves undecided.
#include "hlo/text/printer.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

// Three loops of 40 iterations. In `grows` x becomes y = 8 (x - 7/8 x) = x, whose radius grows to 15 times (8
// + 7) in an iteration and leaves the type, where errors do not grow. In `turns` x becomes -x, which is as
// far off.
constexpr char kLoops[] = R"(grows { s = (s32[], f32[1]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = f32[1] constant({0.875})
  e = f32[1] constant({8})
  p = f32[1] multiply(x, c)
  d = f32[1] subtract(x, p)
  y = f32[1] multiply(d, e)
  ROOT t = (s32[], f32[1]) tuple(j, y) }
turns { s = (s32[], f32[1]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[1] negate(x)
  ROOT t = (s32[], f32[1]) tuple(j, y) }
test { s = (s32[], f32[1]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(40)
  ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[1] parameter(0)
  z = s32[] constant(0)
  a = f32[1] exponential(x)
  s = (s32[], f32[1]) tuple(z, a)
  small = (s32[], f32[1]) while(s), condition=test, body=turns
  b = f32[1] get-tuple-element(small), index=1
  u = (s32[], f32[1]) tuple(z, b)
  large = (s32[], f32[1]) while(u), condition=test, body=grows
  c = f32[1] get-tuple-element(large), index=1
  v = (s32[], f32[1]) tuple(z, a)
  other = (s32[], f32[1]) while(v), condition=test, body=grows
  d = f32[1] get-tuple-element(other), index=1
  ROOT r = (f32[1], f32[1], f32[1]) tuple(ROOTS) })";

std::string Loops(const std::string& a, const std::string& b, const std::string& c) {
  std::string text = kLoops;
  return text.replace(text.find("ROOTS"), 5, a + ", " + b + ", " + c);
}

std::vector<Literal> One() { return {Literal::FromDoubles(ElementType::kF32, {{1}}, {{0}})}; }

using Names = std::vector<std::string>;

TEST_CASE("second run: loops with undecided elements alone", "[check][bounds]") {
  const std::string stored = "ulps * * 1\nstores_loop_state yes\n";
  // `other` is behind no output, and `small` is decided.
  const BoundedOutputs bounded = Bounded(Loops("a", "b", "c"), One(), stored);
  CHECK(bounded.loops_with_forms == Names{"large"});
  CHECK(std::isfinite(RadiiOf(bounded.outputs[2])[0]));
  CHECK(Bounded(Loops("a", "d", "b"), One(), stored).loops_with_forms == Names{"other"});
  CHECK(Bounded(Loops("c", "d", "b"), One(), stored).loops_with_forms == Names{"large", "other"});
}

TEST_CASE("second run: none where it says no more", "[check][bounds]") {
  const auto names = [](const std::string& text, const std::string& profile) {
    return Bounded(text, One(), profile).loops_with_forms;
  };
  CHECK(names(Loops("a", "b", "a"), "ulps * * 1\nstores_loop_state yes\n").empty());
  CHECK(names(Loops("c", "d", "a"), "ulps * * 1\n").empty());
  CHECK(names(Loops("c", "d", "a"), "ulps * * 1\nstores_loop_state yes\nkeeps_precision f32\n").empty());
  const BoundedOutputs without = Bounded(Loops("c", "d", "a"), One(), "ulps * * 1\n");
  CHECK_FALSE(std::isfinite(RadiiOf(without.outputs[0])[0]));
}

// The tangent has no formula: the state of this loop has no forms.
TEST_CASE("second run: a body of operations without formulas", "[check][bounds]") {
  std::string text = Loops("a", "b", "c");
  const size_t step = text.find("y = f32[1] multiply(d, e)");
  text.replace(step, 25, "w = f32[1] multiply(d, e)\n  y = f32[1] tan(w)");
  const BoundedOutputs bounded = Bounded(text, One(), "ulps * * 1\nstores_loop_state yes\n");
  CHECK(bounded.loops_with_forms.empty());
  CHECK_FALSE(std::isfinite(RadiiOf(bounded.outputs[2])[0]));
}

// What is decided has the derived program that it has by a profile without forms.
TEST_CASE("second run: the first one has no forms", "[check][bounds]") {
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + Loops("b", "c", "d"));
  REQUIRE(program.ok());
  const auto derived = [&](const std::string& more) {
    const absl::StatusOr<Profile> profile = ParseProfile("test", "inherit strict\nulps * * 1\n" + more);
    REQUIRE(profile.ok());
    const absl::StatusOr<DerivedBounds> bounds = DeriveBounds(program->verified(), *profile);
    REQUIRE(bounds.ok());
    CHECK(bounds->loops_with_forms.empty());
    return ModuleToText(bounds->module);
  };
  CHECK(derived("stores_loop_state yes\n") == derived(""));
}

TEST_CASE("second run: loops in what is called", "[check][bounds]") {
  std::string text = Loops("a", "b", "w");
  const size_t entry = text.find("ENTRY");
  text.insert(entry, R"(called { x = f32[1] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[1]) tuple(z, x)
  inner = (s32[], f32[1]) while(s), condition=test, body=grows
  ROOT c = f32[1] get-tuple-element(inner), index=1 }
)");
  text.insert(text.find("  ROOT r"), "  w = f32[1] call(b), to_apply=called\n");
  const BoundedOutputs bounded = Bounded(text, One(), "ulps * * 1\nstores_loop_state yes\n");
  CHECK(bounded.loops_with_forms == Names{"inner"});
  CHECK(std::isfinite(RadiiOf(bounded.outputs[2])[0]));
}

}  // namespace
}  // namespace assay::testing
