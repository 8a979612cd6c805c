// Two programs beside each other: the first instruction that differs, and its counterpart.
#include "find/programs/first_difference.h"

#include <catch2/catch.hpp>
#include <string>

#include "find/programs/pair.h"

namespace assay::testing {
namespace {

Program Loaded(const std::string& text) {
  absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

Literal Numbers() { return Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.5, -2.25, 3, 7}}); }

ProgramInputs InputsOf(std::vector<Literal> arguments) {
  ProgramInputs inputs;
  inputs.inputs.emplace_back().arguments = std::move(arguments);
  return inputs;
}

std::optional<FirstDifference> Compared(const std::string& first, const std::string& second,
                                        std::vector<Literal> arguments = {Numbers()}) {
  const Program programs[] = {Loaded(first), Loaded(second)};
  ProgramInputs inputs = InputsOf(std::move(arguments));
  ProgramInputs regrouped = inputs;
  regrouped.inputs = RegroupedFor(programs[1].module(), inputs.inputs);
  REQUIRE(CheckSameInterface(programs[0].module(), programs[1].module()).ok());
  absl::StatusOr<std::optional<FirstDifference>> found =
      FirstDifferenceOf(programs[0], inputs, programs[1], regrouped);
  INFO(found.status());
  REQUIRE(found.ok());
  return *std::move(found);
}

}  // namespace

TEST_CASE("pair: the changed instruction has its counterpart by name", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  n = f32[4] negate(x)
  e = f32[4] exponential(n)
  s = f32[4] add(x, e)
  ROOT r = f32[4] multiply(s, s) })";
  // The negation is lost: exponential is the first one whose value is new.
  constexpr char kSecond[] = R"(ENTRY e { x = f32[4] parameter(0)
  e = f32[4] exponential(x)
  s = f32[4] add(x, e)
  ROOT r = f32[4] multiply(s, s) })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "e");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "e");
  CHECK(found->pair.matched_by == MatchedBy::kName);
  CHECK(found->pair.elements == 4);
  CHECK(found->pair.different == 4);
  REQUIRE(!found->pair.shown.empty());
  CHECK(found->pair.shown[0].index == DimVector{0});
  CHECK(found->differing == 3);  // e, s and r
}

TEST_CASE("pair: equal programs, and moved arithmetic with the same results", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  two = f32[] constant(2)
  t = f32[4] broadcast(two), dimensions={}
  m = f32[4] multiply(x, t)
  ROOT r = f32[4] divide(m, t) })";
  CHECK(!Compared(kFirst, kFirst));
  CHECK(!Compared(kFirst, "ENTRY e { ROOT x = f32[4] parameter(0) }"));
}

TEST_CASE("pair: a value that is in the first program by chance does not hide a difference", "[find][pair]") {
  // Both comparisons of the first program are there; the second one's first has a flipped direction and gives
  // what the other one gave.
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  z = f32[4] broadcast(zero), dimensions={}
  less = pred[4] compare(x, z), direction=LT
  n = f32[4] negate(x)
  more = pred[4] compare(n, z), direction=LE
  a = f32[4] select(less, x, z)
  b = f32[4] select(more, n, x)
  ROOT r = f32[4] add(a, b) })";
  std::string second = kFirst;
  second.replace(second.find("direction=LT"), 12, "direction=GE");
  const std::optional<FirstDifference> found = Compared(kFirst, second);
  REQUIRE(found);
  CHECK(found->pair.second.name == "less");
  CHECK(found->pair.second.op == "compare");
  CHECK(found->pair.different == 4);
}

TEST_CASE("pair: slices whose names are swapped do not differ", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  s.1 = f32[2] slice(x), slice={[0:2]}
  s.2 = f32[2] slice(x), slice={[2:4]}
  d = f32[2] subtract(s.1, s.2)
  ROOT r = f32[2] exponential(d) })";
  constexpr char kSecond[] = R"(ENTRY e { x = f32[4] parameter(0)
  s.2 = f32[2] slice(x), slice={[0:2]}
  s.1 = f32[2] slice(x), slice={[2:4]}
  d = f32[2] subtract(s.2, s.1)
  ROOT r = f32[2] exponential-minus-one(d) })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "r");
  REQUIRE(found->pair.first);
  CHECK(found->pair.matched_by == MatchedBy::kNameAlone);
  CHECK(found->pair.first->op == "exponential");
}

TEST_CASE("pair: without names the structure tells the counterpart", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  c = f32[2] slice(x), slice={[0:2]}
  ROOT r = f32[2] sqrt(c) })";
  constexpr char kSecond[] = R"(ENTRY other { p0 = f32[4] parameter(0)
  p1 = f32[2] slice(p0), slice={[1:3]}
  ROOT p2 = f32[2] sqrt(p1) })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "p1");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "c");
  CHECK(found->pair.matched_by == MatchedBy::kStructure);
  CHECK(found->pair.different == 2);
}

TEST_CASE("pair: a new constant is passed over, its use is named with the op_name's counterpart",
          "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  seven = f32[] constant(7.3)
  s = f32[4] broadcast(seven), dimensions={}
  ROOT q = f32[4] divide(x, s), metadata={op_name="jit(f)/div"} })";
  constexpr char kSecond[] = R"(ENTRY e { x = f32[4] parameter(0)
  inverse = f32[] constant(0.136986303)
  b = f32[4] broadcast(inverse), dimensions={}
  ROOT p = f32[4] multiply(x, b), metadata={op_name="jit(f)/div"} })";
  const Literal x = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.7, 2.9, 3.3, 101}});
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond, {x});
  REQUIRE(found);
  CHECK(found->pair.second.name == "p");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "q");
  CHECK(found->pair.matched_by == MatchedBy::kOpName);
  CHECK(found->pair.max_ulps == 1);
}

TEST_CASE("pair: an op_name that inlining has put a scope before", "[find][pair]") {
  constexpr char kFirst[] = R"(
f { p = f32[4] parameter(0)
  c = f32[4] convert(p)
  ROOT d.1 = f32[4] sqrt(c), metadata={op_name="root"} }
ENTRY e { x = f32[4] parameter(0)
  ROOT r = f32[4] call(x), to_apply=f, metadata={op_name="jit(g)/call"} })";
  constexpr char kSecond[] = R"(ENTRY e { x = f32[4] parameter(0)
  d.0 = f32[4] cbrt(x), metadata={op_name="jit(g)/call/root"}
  ROOT r = f32[4] reshape(d.0), metadata={op_name="jit(g)/call/root"} })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "d.0");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "d.1");
  CHECK(found->pair.matched_by == MatchedBy::kOpName);
}

TEST_CASE("pair: a changed constant of the same name is named itself", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  c = f32[] constant(0.5)
  b = f32[4] broadcast(c), dimensions={}
  ROOT r = f32[4] add(x, b) })";
  std::string second = kFirst;
  second.replace(second.find("0.5"), 3, "0.25");
  const std::optional<FirstDifference> found = Compared(kFirst, second);
  REQUIRE(found);
  CHECK(found->pair.second.name == "c");
  CHECK(found->pair.shown[0].first == "0.5");
  CHECK(found->pair.shown[0].second == "0.25");
}

TEST_CASE("pair: inside of fusions and loops", "[find][pair]") {
  constexpr char kFirst[] = R"(
body { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] cosine(x)
  ROOT t = (s32[], f32[4]) tuple(j, y) }
test { s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(t), condition=test, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1 })";
  // The loop is unrolled, in fusions, and its last iteration takes the sine.
  constexpr char kSecond[] = R"(
two { x = f32[4] parameter(0)
  y.0 = f32[4] cosine(x)
  ROOT y.1 = f32[4] cosine(y.0) }
third { x = f32[4] parameter(0)
  ROOT y.2 = f32[4] sine(x) }
ENTRY e { x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=two
  ROOT g = f32[4] fusion(f), kind=kLoop, calls=third })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "y.2");
  CHECK(found->pair.second.computation == "third");
  CHECK(!found->pair.first);
  CHECK(found->differing == 1);
}

TEST_CASE("pair: another value of the first program is the output", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { x = f32[4] parameter(0)
  a = f32[4] exponential(x)
  ROOT r = f32[4] negate(a) })";
  constexpr char kSecond[] = R"(ENTRY e { x = f32[4] parameter(0)
  ROOT a = f32[4] exponential(x) })";
  const std::optional<FirstDifference> found = Compared(kFirst, kSecond);
  REQUIRE(found);
  CHECK(found->pair.second.name == "a");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "r");
  CHECK(found->pair.matched_by == MatchedBy::kOutput);
}

TEST_CASE("pair: tuples of parameters and results may be flattened", "[find][pair]") {
  constexpr char kFirst[] = R"(ENTRY e { t = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(t), index=0
  b = f32[4] get-tuple-element(t), index=1
  s = f32[4] subtract(a, b)
  in = (f32[4], f32[4]) tuple(s, b)
  ROOT r = ((f32[4], f32[4]), f32[4]) tuple(in, a) })";
  constexpr char kSecond[] = R"(ENTRY e { a = f32[4]{0} parameter(0)
  b = f32[4]{0} parameter(1)
  s = f32[4] subtract(b, a)
  ROOT r = (f32[4], f32[4], f32[4]) tuple(s, b, a) })";
  const Literal other = Literal::FromDoubles(ElementType::kF32, {{4}}, {{9, 8, 7, 6}});
  const std::optional<FirstDifference> found =
      Compared(kFirst, kSecond, {Literal::Tuple({Numbers(), other})});
  REQUIRE(found);
  CHECK(found->pair.second.name == "s");
  REQUIRE(found->pair.first);
  CHECK(found->pair.first->name == "s");
}

TEST_CASE("pair: other parameters and results are invalid, with both shapes", "[find][pair]") {
  const Program first = Loaded("ENTRY e { ROOT x = f32[4] parameter(0) }");
  const auto said = [&](const std::string& second) {
    const absl::Status status = CheckSameInterface(first.module(), Loaded(second).module());
    CHECK(ExitCodeOf(status) == 3);
    return std::string(status.message());
  };
  CHECK(said("ENTRY e { ROOT x = f32[5] parameter(0) }") ==
        "parameter 0 of the second program is f32[5], want f32[4] as in the first");
  CHECK(said("ENTRY e { x = f32[4] parameter(0)\n  ROOT r = f64[4] convert(x) }") ==
        "result 0 of the second program is f64[4], want f32[4] as in the first");
  CHECK(said("ENTRY e { x = f32[4] parameter(0)\n  y = s32[] parameter(1)\n  ROOT r = f32[4] negate(x) }") ==
        "the second program has 2 parameters (f32[4], s32[]), want 1 parameter (f32[4]) as in the first");
}

TEST_CASE("pair: bounds of either program", "[find][pair][bounds]") {
  const Program first = Loaded(R"(ENTRY e { x = f32[4] parameter(0)
  c = f32[] constant(7.3)
  s = f32[4] broadcast(c), dimensions={}
  ROOT q = f32[4] divide(x, s) })");
  const Program rounded = Loaded(R"(ENTRY e { x = f32[4] parameter(0)
  c = f32[] constant(7.3)
  one = f32[] constant(1)
  i = f32[] divide(one, c)
  s = f32[4] broadcast(i), dimensions={}
  ROOT q = f32[4] multiply(x, s) })");
  const Program wrong = Loaded(R"(ENTRY e { x = f32[4] parameter(0)
  c = f32[] constant(7.31)
  s = f32[4] broadcast(c), dimensions={}
  ROOT q = f32[4] divide(x, s) })");
  const absl::StatusOr<Profile> strict = LoadProfile("strict"), profile = LoadProfile("xla-cpu");
  REQUIRE(strict.ok());
  REQUIRE(profile.ok());
  const ProgramInputs inputs =
      InputsOf({Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.7, 2.9, 3.3, 101}})});
  const auto same = BoundPair(first, inputs, rounded, inputs, *profile);
  REQUIRE(same.ok());
  CHECK((*same)[0].by_first.inside == 4);
  CHECK((*same)[0].by_second.inside == 4);
  CHECK((*same)[0].inside == 4);
  CHECK((*same)[0].outside == 0);
  // Where every division is rounded correctly, one of the four quotients is none.
  const auto strictly = BoundPair(first, inputs, rounded, inputs, *strict);
  REQUIRE(strictly.ok());
  CHECK((*strictly)[0].inside == 3);
  CHECK((*strictly)[0].outside == 1);
  const auto other = BoundPair(first, inputs, wrong, inputs, *profile);
  REQUIRE(other.ok());
  CHECK((*other)[0].outside == 4);
  CHECK((*other)[0].by_second.outside == 4);
}

}  // namespace assay::testing
