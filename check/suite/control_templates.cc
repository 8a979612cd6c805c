// Cases of order, control flow, structure and random bits.
#include "check/suite/suite_case.h"
#include "check/suite/template_types.h"

namespace assay {

const std::vector<SuiteTemplate>& ControlTemplates() {
  static const auto* const templates = new std::vector<SuiteTemplate>{
      {Opcode::kSort, "ascending", kPredTypes | kIntegralTypes, R"(
less {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY main {
  x = $T[3,17] parameter(0)
  ROOT r = $T[3,17] sort(x), dimensions={1}, to_apply=less
})",
       "edges $T[3,17]"},
      {Opcode::kSort, "total-order", kFloatTypes, R"(
less {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
ENTRY main {
  x = $T[3,17] parameter(0)
  ROOT r = $T[3,17] sort(x), dimensions={1}, to_apply=less
})",
       "edges $T[3,17]", "nans"},
      {Opcode::kSort, "stable-with-values", kPredTypes | kIntegralTypes, R"(
greater {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=GT
}
ENTRY main {
  x = $T[21] parameter(0)
  n = s32[21] iota(), iota_dimension=0
  ROOT r = ($T[21], s32[21]) sort(x, n), dimensions={0}, is_stable=true, to_apply=greater
})",
       "ordinary $T[21]", "stable"},
      {Opcode::kSort, "empty", kPredTypes | kIntegralTypes, R"(
less {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY main {
  x = $T[3,0] parameter(0)
  ROOT r = $T[3,0] sort(x), dimensions={1}, to_apply=less
})",
       "edges $T[3,0]", "empty"},
      {Opcode::kTopK, "largest", kPredTypes | kIntegralTypes | kFloatsWithZero, R"(
ENTRY main {
  x = $T[2,13] parameter(0)
  ROOT r = ($T[2,4], s32[2,4]) topk(x), k=4, largest=true
})",
       "ordinary $T[2,13]"},
      {Opcode::kWhile, "swap", kArrayTypes, R"(
more {
  s = (s32[], $T[4], $T[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], $T[4], $T[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = $T[4] get-tuple-element(s), index=1
  y = $T[4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], $T[4], $T[4]) tuple(j, y, x)
}
ENTRY main {
  x = $T[4] parameter(0)
  y = $T[4] parameter(1)
  z = s32[] constant(0)
  s = (s32[], $T[4], $T[4]) tuple(z, x, y)
  ROOT w = (s32[], $T[4], $T[4]) while(s), condition=more, body=step
})",
       "edges $T[4]; edges $T[4]"},
      {Opcode::kWhile, "never", kArrayTypes, R"(
more {
  s = (pred[], $T[4]) parameter(0)
  ROOT c = pred[] get-tuple-element(s), index=0
}
step {
  s = (pred[], $T[4]) parameter(0)
  c = pred[] get-tuple-element(s), index=0
  x = $T[4] get-tuple-element(s), index=1
  y = $T[4] reverse(x), dimensions={0}
  ROOT t = (pred[], $T[4]) tuple(c, y)
}
ENTRY main {
  c = pred[] parameter(0)
  x = $T[4] parameter(1)
  s = (pred[], $T[4]) tuple(c, x)
  w = (pred[], $T[4]) while(s), condition=more, body=step
  ROOT r = $T[4] get-tuple-element(w), index=1
})",
       "pred[] false; edges $T[4]"},
      {Opcode::kConditional, "pred", kArrayTypes, R"(
same {
  ROOT x = $T[5] parameter(0)
}
other {
  x = $T[5] parameter(0)
  ROOT y = $T[5] reverse(x), dimensions={0}
}
ENTRY main {
  p = pred[] parameter(0)
  x = $T[5] parameter(1)
  ROOT r = $T[5] conditional(p, x, x), true_computation=same, false_computation=other
})",
       "pred[] false; edges $T[5]"},
      {Opcode::kConditional, "index-below", kArrayTypes, R"(
same {
  ROOT x = $T[5] parameter(0)
}
other {
  x = $T[5] parameter(0)
  ROOT y = $T[5] reverse(x), dimensions={0}
}
ENTRY main {
  i = s32[] parameter(0)
  x = $T[5] parameter(1)
  ROOT r = $T[5] conditional(i, x, x), branch_computations={same, other}
})",
       "s32[] -1; edges $T[5]", "out-of-range"},
      {Opcode::kConditional, "index-above", kArrayTypes, R"(
same {
  ROOT x = $T[5] parameter(0)
}
other {
  x = $T[5] parameter(0)
  ROOT y = $T[5] reverse(x), dimensions={0}
}
ENTRY main {
  i = s32[] parameter(0)
  x = $T[5] parameter(1)
  ROOT r = $T[5] conditional(i, x, x), branch_computations={same, other}
})",
       "s32[] 2147483647; edges $T[5]", "out-of-range"},
      {Opcode::kCall, "twice", kArrayTypes, R"(
turn {
  x = $T[5] parameter(0)
  ROOT y = $T[5] reverse(x), dimensions={0}
}
ENTRY main {
  x = $T[5] parameter(0)
  y = $T[5] call(x), to_apply=turn
  z = $T[5] call(y), to_apply=turn
  ROOT t = ($T[5], $T[5]) tuple(y, z)
})",
       "edges $T[5]"},
      {Opcode::kFusion, "loop", kSummedTypes, R"(
fused {
  x = $T[5] parameter(0)
  y = $T[5] reverse(x), dimensions={0}
  ROOT z = $T[5] add(x, y)
}
ENTRY main {
  x = $T[5] parameter(0)
  ROOT y = $T[5] fusion(x), kind=kLoop, calls=fused
})",
       "ordinary $T[5]"},
      {Opcode::kMap, "add", kSummedTypes, R"(
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[7] parameter(0)
  y = $T[7] parameter(1)
  ROOT r = $T[7] map(x, y), dimensions={0}, to_apply=sum
})",
       "ordinary $T[7]; ordinary $T[7]"},
      {Opcode::kOptBarrier, "values", kArrayTypes, R"(
ENTRY main {
  x = $T[5] parameter(0)
  y = $T[2] parameter(1)
  t = ($T[5], $T[2]) tuple(x, y)
  ROOT r = ($T[5], $T[2]) opt-barrier(t)
})",
       "edges $T[5]; edges $T[2]"},
      {Opcode::kAddDependency, "token", kArrayTypes, R"(
ENTRY main {
  x = $T[5] parameter(0)
  t = token[] after-all()
  ROOT r = $T[5] add-dependency(x, t)
})",
       "edges $T[5]"},
      {Opcode::kGetDimensionSize, "static", kArrayTypes, R"(
ENTRY main {
  x = $T[5,3] parameter(0)
  ROOT r = s32[] get-dimension-size(x), dimensions={1}
})",
       "edges $T[5,3]"},
      {Opcode::kRngBitGenerator, "three-fry", TypeSet::Of(ElementType::kU32) | TypeSet::Of(ElementType::kU64),
       R"(
ENTRY main {
  s = u64[2] parameter(0)
  ROOT r = (u64[2], $T[7]) rng-bit-generator(s), algorithm=rng_three_fry
})",
       "u64[2] {1, 2}"},
      {Opcode::kRngBitGenerator, "philox", TypeSet::Of(ElementType::kU32) | TypeSet::Of(ElementType::kU64),
       R"(
ENTRY main {
  s = u64[3] parameter(0)
  ROOT r = (u64[3], $T[7]) rng-bit-generator(s), algorithm=rng_philox
})",
       "u64[3] {1, 2, 3}"},
      {Opcode::kStochasticConvert, "to-s8", TypeSet::Of(ElementType::kF32), R"(
ENTRY main {
  x = $T[16] parameter(0)
  b = u32[16] parameter(1)
  ROOT r = s8[16] stochastic-convert(x, b)
})",
       "ordinary $T[16]; edges u32[16]"},
  };
  return *templates;
}

}  // namespace assay
