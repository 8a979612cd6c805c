// Each reduction on a program that is written by hand, and what must come out.
#include "find/reduce/attributes.h"
#include "find/reduce/cost.h"
#include "find/reduce/edit.h"
#include "find/reduce/size_classes.h"
#include "tests/find/reduce_testing.h"

namespace assay {
namespace {

TEST_CASE("reduce: outputs are left out, and a tuple of one array becomes the array", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  n = f32[2] negate(x)
  s = f32[2] sine(x)
  c = f32[2] cosine(x)
  ROOT t = (f32[2], f32[2], f32[2]) tuple(n, s, c)
})");
  const std::vector<ReductionPlace> places = ReductionNamed("drop outputs").places(from);
  REQUIRE(places.size() == 3);
  CHECK(TextOf(Applied(from, "drop outputs", std::span(places).first(1))) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  s = f32[2] sine(x)
  c = f32[2] cosine(x)
  ROOT tuple = (f32[2], f32[2]) tuple(s, c)
})"));
  CHECK(TextOf(Applied(from, "drop outputs", std::span(places).last(2))) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x)
})"));
}

TEST_CASE("reduce: outputs of a loop are elements of what it gives", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
c {
  p = (f32[], pred[]) parameter(0)
  ROOT g = pred[] get-tuple-element(p), index=1
}
b {
  ROOT p = (f32[], pred[]) parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  no = pred[] constant(false)
  t = (f32[], pred[]) tuple(x, no)
  ROOT w = (f32[], pred[]) while(t), condition=c, body=b
})");
  const Computation& entry = AppliedAt(from, "drop outputs", 1).entry();
  CHECK(entry.root_instruction().opcode == Opcode::kGetTupleElement);
  CHECK(entry.root_instruction().attributes.Int(Attr::kIndex) == 0);
}

TEST_CASE("reduce: an instruction becomes the root, the one in the middle first", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = f32[2] sine(a)
  c = f32[2] cosine(b)
  ROOT d = f32[2] exponential(c)
})");
  CHECK(TextOf(AppliedAt(from, "cut to an instruction", 0)) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  ROOT b = f32[2] sine(a)
})"));
}

TEST_CASE("reduce: instructions become parameters with the values that they had", "[smaller]") {
  const float numbers[] = {1, 4};
  const double doubles[] = {numbers[0], numbers[1]};
  const int64_t sizes[] = {2};
  const CheckedCase from =
      CaseOf(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  unused = f32[3] parameter(1)
  a = f32[2] negate(x)
  b = f32[2] sqrt(x)
  ROOT d = f32[2] add(a, b)
})",
             {Literal::FromDoubles(ElementType::kF32, sizes, doubles),
              *Literal::Make(Shape::ArrayOrDie(ElementType::kF32, std::vector<int64_t>{3}))});
  const CheckedCase to = Applied(from, "replace instructions by parameters");
  // What used only the replaced instructions is gone; what nobody used before is another reduction's.
  CHECK(TextOf(to) == Canonical(R"(HloModule m
ENTRY e {
  unused = f32[3] parameter(0)
  a = f32[2] parameter(1)
  b = f32[2] parameter(2)
  ROOT d = f32[2] add(a, b)
})"));
  REQUIRE(to.arguments().size() == 3);
  CHECK(to.arguments()[1].GetDouble(0) == -1);
  CHECK(to.arguments()[1].GetDouble(1) == -4);
  CHECK(to.arguments()[2].GetDouble(0) == 1);
  CHECK(to.arguments()[2].GetDouble(1) == 2);
  const CheckedCase without = Applied(to, "drop unused parameters");
  CHECK(without.arguments().size() == 2);
  CHECK(without.entry().parameters.size() == 2);
}

TEST_CASE("reduce: values of tuples and their elements are known", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
f {
  p = f32[] parameter(0)
  n = f32[] negate(p)
  ROOT t = (f32[], f32[]) tuple(p, n)
}
ENTRY e {
  x = f32[] constant(3)
  c = (f32[], f32[]) call(x), to_apply=f
  g = f32[] get-tuple-element(c), index=1
  ROOT a = f32[] abs(g)
})");
  REQUIRE(from.values().size() == 4);
  REQUIRE(from.values()[2].has_value());
  CHECK(from.values()[2]->GetDouble(0) == -3);
}

TEST_CASE("reduce: calls and fusions are inlined", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
inner {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}
outer {
  a = f32[2] parameter(0)
  c = f32[2] call(a), to_apply=inner
  ROOT d = f32[2] add(c, a)
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT f = f32[2] fusion(x), kind=kLoop, calls=outer
})");
  CHECK(TextOf(Applied(from, "inline calls")) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  b = f32[2] negate(x)
  ROOT d = f32[2] add(b, x)
})"));
}

TEST_CASE("reduce: of a conditional the branch that is taken is tried first", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
yes {
  a = f32[] parameter(0)
  ROOT b = f32[] negate(a)
}
no {
  c = f32[] parameter(0)
  ROOT d = f32[] sine(c)
}
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] constant(false)
  ROOT either = f32[] conditional(p, x, x), true_computation=yes, false_computation=no
})");
  const std::string sine = Canonical(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  ROOT d = f32[] sine(x)
})");
  CHECK(TextOf(AppliedAt(from, "inline a branch", 0)) == sine);
  CHECK(TextOf(AppliedAt(from, "inline a branch", 1)) != sine);
}

constexpr char kLoop[] = R"(HloModule m
condition {
  p = (s32[], f32[2], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[2], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[2] get-tuple-element(p), index=1
  turned = f32[2] tanh(x)
  y = f32[3] get-tuple-element(p), index=2
  w = f32[3] cosine(y)
  ROOT r = (s32[], f32[2], f32[3]) tuple(next, turned, w)
}
ENTRY e {
  zero = s32[] constant(0)
  x = f32[2] parameter(0)
  y = f32[3] parameter(1)
  s = (s32[], f32[2], f32[3]) tuple(zero, x, y)
  l = (s32[], f32[2], f32[3]) while(s), condition=condition, body=body
  ROOT g = f32[2] get-tuple-element(l), index=1
})";

TEST_CASE("reduce: a loop becomes its body, applied once", "[smaller]") {
  const CheckedCase to = Applied(CaseOf(kLoop), "run a loop's body once");
  CHECK(to.module().computations.size() == 1);
  CHECK(TextOf(to).find("tanh(") != std::string::npos);
  CHECK(TextOf(to).find("while(") == std::string::npos);
}

TEST_CASE("reduce: an element of a loop's state is left out", "[smaller]") {
  const CheckedCase from = CaseOf(kLoop);
  // The last element is the first place.
  const CheckedCase to = AppliedAt(from, "drop the state of loops", 0);
  const std::string text = TextOf(to);
  CHECK(text.find("cosine(") == std::string::npos);
  const Computation& entry = to.entry();
  for (const Instruction& instruction : entry.instructions) {
    if (instruction.opcode == Opcode::kWhile) CHECK(instruction.shape->elements().size() == 2);
  }
  // The rest of the loop computes what it computed before.
  const absl::StatusOr<Literal> before = from.program().Run(from.arguments());
  const absl::StatusOr<Literal> after = to.program().Run(to.arguments());
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  CHECK(Literal::BitwiseEqual(*before, *after));
  // The counter is needed by the condition.
  const std::vector<ReductionPlace> places = ReductionNamed("drop the state of loops").places(from);
  CHECK_FALSE(ReductionNamed("drop the state of loops").apply(from, {&places[2], 1}).ok());
}

TEST_CASE("reduce: an element of a loop's state keeps its value", "[smaller]") {
  const CheckedCase from = CaseOf(kLoop);
  const CheckedCase to = AppliedAt(from, "freeze the state of loops", 1);
  CHECK(TextOf(to).find("tanh(") == std::string::npos);
  const absl::StatusOr<Literal> after = to.program().Run(to.arguments());
  REQUIRE(after.ok());
  CHECK(Literal::BitwiseEqual(*after, from.arguments()[0]));
}

TEST_CASE("reduce: instructions become operands, zeros and ones", "[smaller]") {
  const std::string text = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = s32[2] convert(a)
  ROOT d = f32[2] sine(a)
})";
  CHECK(TextOf(AppliedAt(CaseOf(text), "replace instructions by operands", 0)) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT a = f32[2] negate(x)
})"));
  CHECK(TextOf(AppliedAt(CaseOf(text), "replace instructions by numbers", 2)) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  constant = f32[] constant(0)
  broadcast = f32[2] broadcast(constant), dimensions={}
  ROOT d = f32[2] sine(broadcast)
})"));
}

TEST_CASE("reduce: arrays of sorts and reduces are left out", "[smaller]") {
  CHECK(TextOf(AppliedAt(CaseOf(R"(HloModule m
order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT less = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  s = (f32[4], s32[4]) sort(x, y), dimensions={0}, to_apply=order
  g = f32[4] get-tuple-element(s), index=0
  h = s32[4] get-tuple-element(s), index=1
  ROOT t = (s32[4], f32[4]) tuple(h, g)
})"),
                         "leave out arrays", 0)) == Canonical(R"(HloModule m
order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT less = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  s = f32[4] sort(x), dimensions={0}, to_apply=order
  ROOT t = (s32[4], f32[4]) tuple(y, s)
})"));
  CHECK(TextOf(AppliedAt(CaseOf(R"(HloModule m
order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT less = pred[] compare(c, d), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  ROOT s = (f32[4], s32[4]) sort(x, y), dimensions={0}, to_apply=order
})"),
                         "leave out arrays", 1)) == Canonical(R"(HloModule m
order {
  c = s32[] parameter(0)
  d = s32[] parameter(1)
  ROOT less = pred[] compare(c, d), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  ROOT s = s32[4] sort(y), dimensions={0}, to_apply=order
})"));
  CHECK(TextOf(AppliedAt(CaseOf(R"(HloModule m
two {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = f32[] add(a, c)
  p = s32[] multiply(b, d)
  ROOT t = (f32[], s32[]) tuple(s, p)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  zero = f32[] constant(0)
  one = s32[] constant(1)
  r = (f32[], s32[]) reduce(x, y, zero, one), dimensions={0}, to_apply=two
  ROOT g = s32[] get-tuple-element(r), index=1
})"),
                         "leave out arrays", 1)) == Canonical(R"(HloModule m
two {
  b = s32[] parameter(0)
  d = s32[] parameter(1)
  ROOT p = s32[] multiply(b, d)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  one = s32[] constant(1)
  ROOT r = s32[] reduce(y, one), dimensions={0}, to_apply=two
})"));
}

TEST_CASE("reduce: inputs become constants, and large constants parameters", "[smaller]") {
  const double doubles[] = {1.5, -2};
  const int64_t sizes[] = {2};
  const CheckedCase from = CaseOf(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT a = f32[2] negate(x)
})",
                                  {Literal::FromDoubles(ElementType::kF32, sizes, doubles)});
  const CheckedCase to = Applied(from, "replace inputs by constants");
  CHECK(TextOf(to) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2] constant({1.5, -2})
  ROOT a = f32[2] negate(x)
})"));
  CHECK(to.arguments().empty());
  CHECK(CostOf(to) < CostOf(from));
  const CheckedCase large = CaseOf(R"(HloModule m
ENTRY e {
  x = s32[9] constant({1, 2, 3, 4, 5, 6, 7, 8, 9})
  ROOT a = s32[9] negate(x)
})");
  const CheckedCase given = Applied(large, "replace instructions by parameters");
  REQUIRE(given.arguments().size() == 1);
  CHECK(given.arguments()[0].GetInt(8) == 9);
  CHECK(CostOf(given) < CostOf(large));
}

TEST_CASE("reduce: attributes get their defaults", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m, is_scheduled=true, frontend_attributes={a="b"}
ENTRY e {
  x = f32[2,2]{0,1} parameter(0), sharding={replicated}
  ROOT d = f32[2,2]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}, metadata={op_name="d"}
})");
  const CheckedCase to = Applied(from, "drop attributes");
  CHECK(TextOf(to) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[2,2] parameter(0)
  ROOT d = f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"));
  CHECK(CostOfAttributes(to.module()) == 0);
  CHECK(CostOfAttributes(from.module()) > 0);
}

}  // namespace
}  // namespace assay
