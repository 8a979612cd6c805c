// Reductions of sizes, types and values.
#include "find/reduce/cost.h"
#include "find/reduce/size_classes.h"
#include "tests/find/reduce_testing.h"

namespace assay {
namespace {

// The places that make sizes of `before` the size `now`.
std::vector<ReductionPlace> SizePlacesTo(const CheckedCase& from, int64_t before, int64_t now) {
  const SizeClasses classes(from.module());
  std::vector<ReductionPlace> places;
  for (const ReductionPlace& place : ReductionNamed("make sizes smaller").places(from)) {
    if (classes.SizeOf(place.which) == before && place.how == now) places.push_back(place);
  }
  return places;
}

CheckedCase Resized(const std::string& text, int64_t before, int64_t now) {
  const CheckedCase from = CaseOf(text);
  const std::vector<ReductionPlace> places = SizePlacesTo(from, before, now);
  REQUIRE(places.size() == 1);
  return Applied(from, "make sizes smaller", places);
}

TEST_CASE("reduce: a size changes wherever it must be the same", "[smaller]") {
  CHECK(TextOf(Resized(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  w = f32[6,5] parameter(1)
  d = f32[4,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[5,4] transpose(d), dimensions={1,0}
  z = f32[] constant(0)
  r = f32[5] reduce(t, z), dimensions={1}, to_apply=sum
  wide = f32[7,5] broadcast(r), dimensions={1}
  ROOT n = f32[7,5] negate(wide)
})",
                       6, 3)) == Canonical(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,3] parameter(0)
  w = f32[3,5] parameter(1)
  d = f32[4,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[5,4] transpose(d), dimensions={1,0}
  z = f32[] constant(0)
  r = f32[5] reduce(t, z), dimensions={1}, to_apply=sum
  wide = f32[7,5] broadcast(r), dimensions={1}
  ROOT n = f32[7,5] negate(wide)
})"));
}

TEST_CASE("reduce: sizes that follow are inferred", "[smaller]") {
  CHECK(TextOf(Resized(R"(HloModule m
ENTRY e {
  x = f32[4,3] parameter(0)
  y = f32[2,3] parameter(1)
  c = f32[6,3] concatenate(x, y), dimensions={0}
  z = f32[] constant(0)
  p = f32[9,3] pad(c, z), padding=1_2x0_0
  r = f32[27] reshape(p)
  ROOT n = f32[27] negate(r)
})",
                       4, 1)) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[1,3] parameter(0)
  y = f32[2,3] parameter(1)
  c = f32[3,3] concatenate(x, y), dimensions={0}
  z = f32[] constant(0)
  p = f32[6,3] pad(c, z), padding=1_2x0_0
  r = f32[18] reshape(p)
  ROOT n = f32[18] negate(r)
})"));
}

TEST_CASE("reduce: a reshape that splits a dimension follows a part of it", "[smaller]") {
  CHECK(TextOf(Resized(R"(HloModule m
ENTRY e {
  x = f32[12,5] parameter(0)
  r = f32[4,3,5] reshape(x)
  ROOT n = f32[4,3,5] negate(r)
})",
                       4, 1)) == Canonical(R"(HloModule m
ENTRY e {
  x = f32[3,5] parameter(0)
  r = f32[1,3,5] reshape(x)
  ROOT n = f32[1,3,5] negate(r)
})"));
}

TEST_CASE("reduce: inputs and constants keep their leading elements", "[smaller]") {
  const int64_t sizes[] = {2, 4}, numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const CheckedCase from = CaseOf(R"(HloModule m
ENTRY e {
  x = s32[2,4] parameter(0)
  c = s32[2,4] constant({{1, 2, 3, 4}, {5, 6, 7, 8}})
  ROOT a = s32[2,4] add(x, c)
})",
                                  {Literal::FromInts(ElementType::kS32, sizes, numbers)});
  const CheckedCase to = Applied(from, "make sizes smaller", SizePlacesTo(from, 4, 2));
  const absl::StatusOr<Literal> result = to.program().Run(to.arguments());
  REQUIRE(result.ok());
  REQUIRE(result->shape().ToString() == "s32[2,2]");
  for (int64_t k = 0; k < 4; ++k)
    CHECK(result->GetInt(k) == std::vector<int64_t>{2, 4, 10, 12}[static_cast<size_t>(k)]);
}

TEST_CASE("reduce: sizes of slices, gathers and loops", "[smaller]") {
  CHECK(TextOf(Resized(R"(HloModule m
c {
  p = (f32[8], pred[]) parameter(0)
  ROOT g = pred[] get-tuple-element(p), index=1
}
b {
  p = (f32[8], pred[]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  n = f32[8] negate(x)
  no = pred[] constant(false)
  ROOT t = (f32[8], pred[]) tuple(n, no)
}
ENTRY e {
  x = f32[8] parameter(0)
  yes = pred[] constant(true)
  t = (f32[8], pred[]) tuple(x, yes)
  w = (f32[8], pred[]) while(t), condition=c, body=b
  g = f32[8] get-tuple-element(w), index=0
  ROOT s = f32[4] slice(g), slice={[4:8]}
})",
                       8, 4)) == Canonical(R"(HloModule m
c {
  p = (f32[4], pred[]) parameter(0)
  ROOT g = pred[] get-tuple-element(p), index=1
}
b {
  p = (f32[4], pred[]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  n = f32[4] negate(x)
  no = pred[] constant(false)
  ROOT t = (f32[4], pred[]) tuple(n, no)
}
ENTRY e {
  x = f32[4] parameter(0)
  yes = pred[] constant(true)
  t = (f32[4], pred[]) tuple(x, yes)
  w = (f32[4], pred[]) while(t), condition=c, body=b
  g = f32[4] get-tuple-element(w), index=0
  ROOT s = f32[2] slice(g), slice={[2:4]}
})"));
}

TEST_CASE("reduce: windows lose padding, and sizes follow", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[6,4] parameter(0)
  z = f32[] constant(0)
  w = f32[6,4] reduce-window(x, z), window={size=3x1 pad=1_1x0_0}, to_apply=sum
  ROOT n = f32[6,4] negate(w)
})");
  const std::vector<ReductionPlace> places = ReductionNamed("simplify windows").places(from);
  REQUIRE(places.size() == 1);
  CHECK(TextOf(Applied(from, "simplify windows", places)) == Canonical(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[6,4] parameter(0)
  z = f32[] constant(0)
  w = f32[4,4] reduce-window(x, z), window={size=3x1}, to_apply=sum
  ROOT n = f32[4,4] negate(w)
})"));
}

TEST_CASE("reduce: dimensions of size 1 are left out", "[smaller]") {
  const CheckedCase from = CaseOf(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[1,4,5] parameter(0)
  w = f32[5,6] parameter(1)
  d = f32[1,4,6] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  t = f32[6,1,4] transpose(d), dimensions={2,0,1}
  z = f32[] constant(0)
  r = f32[1,4] reduce(t, z), dimensions={0}, to_apply=sum
  wide = f32[1,3,4] broadcast(r), dimensions={0,2}
  part = f32[1,2,4] slice(wide), slice={[0:1], [1:3], [0:4]}
  p = f32[1,2,6] pad(part, z), padding=0_0x0_0x1_1
  ROOT v = f32[1,2,6] reverse(p), dimensions={2}
})");
  CHECK(TextOf(AppliedAt(from, "leave out dimensions of size 1", 0)) == Canonical(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,5] parameter(0)
  w = f32[5,6] parameter(1)
  d = f32[4,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[6,4] transpose(d), dimensions={1,0}
  z = f32[] constant(0)
  r = f32[4] reduce(t, z), dimensions={0}, to_apply=sum
  wide = f32[3,4] broadcast(r), dimensions={1}
  part = f32[2,4] slice(wide), slice={[1:3], [0:4]}
  p = f32[2,6] pad(part, z), padding=0_0x1_1
  ROOT v = f32[2,6] reverse(p), dimensions={1}
})"));
}

TEST_CASE("reduce: types become simpler everywhere", "[smaller]") {
  const double doubles[] = {1.5, -2};
  const int64_t sizes[] = {2};
  const CheckedCase from = CaseOf(R"(HloModule m
f {
  a = bf16[2] parameter(0)
  ROOT n = bf16[2] negate(a)
}
ENTRY e {
  x = bf16[2] parameter(0)
  c = bf16[] constant(3)
  b = bf16[2] broadcast(c), dimensions={}
  f = bf16[2] call(x), to_apply=f
  ROOT a = bf16[2] add(f, b)
})",
                                  {Literal::FromDoubles(ElementType::kBF16, sizes, doubles)});
  const CheckedCase to = AppliedAt(from, "make types simpler", 0);
  CHECK(TextOf(to).find("bf16") == std::string::npos);
  REQUIRE(to.arguments()[0].shape().element_type() == ElementType::kF32);
  CHECK(to.arguments()[0].GetDouble(0) == 1.5);
  CHECK(CostOf(to) < CostOf(from));
  CHECK(ReductionNamed("make types simpler").places(to).empty());
}

TEST_CASE("reduce: values become simpler, whole arrays before parts", "[smaller]") {
  const double doubles[] = {0.3, -2.7, 1e10};
  const int64_t sizes[] = {3};
  const CheckedCase from = CaseOf(R"(HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  ROOT n = f32[3] negate(x)
})",
                                  {Literal::FromDoubles(ElementType::kF32, sizes, doubles)});
  const std::vector<ReductionPlace> places = ReductionNamed("simplify values").places(from);
  const auto values_after = [&](size_t k) {
    const Literal value = Applied(from, "simplify values", {&places[k], 1}).arguments()[0];
    return std::vector<double>{value.GetDouble(0), value.GetDouble(1), value.GetDouble(2)};
  };
  CHECK(values_after(0) == std::vector<double>{0, 0, 0});
  CHECK(values_after(1) == std::vector<double>{1, 1, 1});
  CHECK(values_after(3) == std::vector<double>{0, -3, 16});
  CHECK(values_after(4) == std::vector<double>{0.25, -2.75, 1024});
  CHECK(values_after(5) == std::vector<double>{0, static_cast<float>(-2.7), 1e10});
  CHECK(values_after(7) == std::vector<double>{static_cast<float>(0.3), static_cast<float>(-2.7), 0});
}

TEST_CASE("reduce: parts of reshapes", "[smaller]") {
  const auto shape = [](std::vector<int64_t> sizes) { return Shape::ArrayOrDie(ElementType::kF32, sizes); };
  const std::vector<ReshapeGroup> groups = ReshapeGroups(shape({6, 4, 5}), shape({2, 3, 20}));
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].a_end == 1);
  CHECK(groups[0].b_end == 2);
  CHECK(groups[1].a_begin == 1);
  CHECK(groups[1].a_end == 3);
  CHECK(groups[1].b_begin == 2);
  CHECK(ReshapeGroups(shape({1, 5}), shape({5})).size() == 1);
}

}  // namespace
}  // namespace assay
