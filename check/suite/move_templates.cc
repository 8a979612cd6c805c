// Cases of operations that move elements: every bit pattern of every type has to arrive.
#include "check/suite/suite_case.h"
#include "check/suite/template_types.h"

namespace assay {

const std::vector<SuiteTemplate>& MoveTemplates() {
  static const auto* const templates = new std::vector<SuiteTemplate>{
      {Opcode::kBroadcast, "rows", kArrayTypes, R"(
ENTRY main {
  x = $T[6] parameter(0)
  ROOT r = $T[4,6] broadcast(x), dimensions={1}
})",
       "edges $T[6]"},
      {Opcode::kBroadcast, "scalar", kArrayTypes, R"(
ENTRY main {
  x = $T[] parameter(0)
  ROOT r = $T[3,2] broadcast(x), dimensions={}
})",
       "edges $T[]"},
      {Opcode::kBroadcast, "empty", kArrayTypes, R"(
ENTRY main {
  x = $T[0] parameter(0)
  ROOT r = $T[3,0] broadcast(x), dimensions={1}
})",
       "edges $T[0]", "empty"},
      {Opcode::kReshape, "split", kArrayTypes, R"(
ENTRY main {
  x = $T[4,6] parameter(0)
  ROOT r = $T[2,3,4] reshape(x)
})",
       "edges $T[4,6]"},
      {Opcode::kReshape, "scalar", kArrayTypes, R"(
ENTRY main {
  x = $T[1,1] parameter(0)
  ROOT r = $T[] reshape(x)
})",
       "edges $T[1,1]"},
      {Opcode::kReshape, "empty", kArrayTypes, R"(
ENTRY main {
  x = $T[0,3] parameter(0)
  ROOT r = $T[5,0] reshape(x)
})",
       "edges $T[0,3]", "empty"},
      {Opcode::kTranspose, "cycle", kArrayTypes, R"(
ENTRY main {
  x = $T[2,3,5] parameter(0)
  ROOT r = $T[5,2,3] transpose(x), dimensions={2,0,1}
})",
       "edges $T[2,3,5]"},
      {Opcode::kReverse, "two-dimensions", kArrayTypes, R"(
ENTRY main {
  x = $T[3,2,4] parameter(0)
  ROOT r = $T[3,2,4] reverse(x), dimensions={0,2}
})",
       "edges $T[3,2,4]"},
      {Opcode::kSlice, "strided", kArrayTypes, R"(
ENTRY main {
  x = $T[7,9] parameter(0)
  ROOT r = $T[3,3] slice(x), slice={[1:6:2], [0:9:4]}
})",
       "edges $T[7,9]"},
      {Opcode::kSlice, "empty", kArrayTypes, R"(
ENTRY main {
  x = $T[7] parameter(0)
  ROOT r = $T[0] slice(x), slice={[7:7]}
})",
       "edges $T[7]", "empty"},
      {Opcode::kConcatenate, "with-empty", kArrayTypes, R"(
ENTRY main {
  x = $T[2,3] parameter(0)
  y = $T[2,0] parameter(1)
  z = $T[2,2] parameter(2)
  ROOT r = $T[2,5] concatenate(x, y, z), dimensions={1}
})",
       "edges $T[2,3]; edges $T[2,0]; edges $T[2,2]", "empty"},
      {Opcode::kPad, "interior", kArrayTypes, R"(
ENTRY main {
  x = $T[3,4] parameter(0)
  v = $T[] parameter(1)
  ROOT r = $T[6,12] pad(x, v), padding=1_2x0_2_2
})",
       "edges $T[3,4]; edges $T[]"},
      {Opcode::kPad, "negative", kArrayTypes, R"(
ENTRY main {
  x = $T[5,4] parameter(0)
  v = $T[] parameter(1)
  ROOT r = $T[3,4] pad(x, v), padding=-1_-1x2_-2
})",
       "edges $T[5,4]; edges $T[]", "negative-padding"},
      {Opcode::kPad, "negative-interior", kArrayTypes, R"(
ENTRY main {
  x = $T[4] parameter(0)
  v = $T[] parameter(1)
  ROOT r = $T[4] pad(x, v), padding=-2_-1_1
})",
       "edges $T[4]; edges $T[]", "negative-padding"},
      {Opcode::kPad, "of-nothing", kArrayTypes, R"(
ENTRY main {
  x = $T[0] parameter(0)
  v = $T[] parameter(1)
  ROOT r = $T[4] pad(x, v), padding=1_3_2
})",
       "edges $T[0]; edges $T[]", "empty"},
      {Opcode::kDynamicSlice, "inside", kArrayTypes, R"(
ENTRY main {
  x = $T[5,6] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  ROOT r = $T[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
})",
       "edges $T[5,6]; s32[] 3; s32[] 1"},
      {Opcode::kDynamicSlice, "out-of-range", kArrayTypes, R"(
ENTRY main {
  x = $T[5,6] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  ROOT r = $T[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
})",
       "edges $T[5,6]; s32[] -7; s32[] 2147483647", "out-of-range"},
      {Opcode::kDynamicSlice, "unsigned-index", kArrayTypes, R"(
ENTRY main {
  x = $T[5] parameter(0)
  i = u8[] parameter(1)
  ROOT r = $T[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
})",
       "edges $T[5]; u8[] 255", "out-of-range"},
      {Opcode::kDynamicSlice, "long-index", kArrayTypes, R"(
ENTRY main {
  x = $T[5] parameter(0)
  i = s64[] parameter(1)
  ROOT r = $T[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
})",
       "edges $T[5]; s64[] 4294967297", "out-of-range"},
      {Opcode::kDynamicUpdateSlice, "inside", kArrayTypes, R"(
ENTRY main {
  x = $T[5,6] parameter(0)
  u = $T[2,3] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = $T[5,6] dynamic-update-slice(x, u, i, j)
})",
       "edges $T[5,6]; edges $T[2,3]; s32[] 2; s32[] 3"},
      {Opcode::kDynamicUpdateSlice, "out-of-range", kArrayTypes, R"(
ENTRY main {
  x = $T[5,6] parameter(0)
  u = $T[2,3] parameter(1)
  i = s64[] parameter(2)
  j = s64[] parameter(3)
  ROOT r = $T[5,6] dynamic-update-slice(x, u, i, j)
})",
       "edges $T[5,6]; edges $T[2,3]; s64[] -1; s64[] 9223372036854775807", "out-of-range"},
      {Opcode::kGather, "rows", kArrayTypes, R"(
ENTRY main {
  x = $T[5,3] parameter(0)
  i = s32[4] parameter(1)
  ROOT r = $T[4,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
})",
       "edges $T[5,3]; s32[4] {4, 0, 2, 2}"},
      {Opcode::kGather, "out-of-range", kArrayTypes, R"(
ENTRY main {
  x = $T[5,3] parameter(0)
  i = s32[4,2] parameter(1)
  ROOT r = $T[4,2,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,2}
})",
       "edges $T[5,3]; s32[4,2] {{-1, 0}, {4, 2}, {2147483647, -2147483648}, {3, 1}}", "out-of-range"},
      {Opcode::kGather, "batching", kArrayTypes, R"(
ENTRY main {
  x = $T[2,4] parameter(0)
  i = s64[3,2] parameter(1)
  ROOT r = $T[3,2] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, index_vector_dim=2, slice_sizes={1,1}
})",
       "edges $T[2,4]; s64[3,2] {{0, 3}, {1, 2}, {3, 0}}"},
      {Opcode::kGather, "no-indices", kArrayTypes, R"(
ENTRY main {
  x = $T[5,3] parameter(0)
  i = s32[0] parameter(1)
  ROOT r = $T[0,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
})",
       "edges $T[5,3]; s32[0] {}", "empty"},
      {Opcode::kScatter, "replace", kArrayTypes, R"(
second {
  a = $T[] parameter(0)
  ROOT b = $T[] parameter(1)
}
ENTRY main {
  x = $T[5,3] parameter(0)
  i = s32[2] parameter(1)
  u = $T[2,3] parameter(2)
  ROOT r = $T[5,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
})",
       "edges $T[5,3]; s32[2] {3, 0}; edges $T[2,3]"},
      {Opcode::kScatter,
       "out-of-range",
       kArrayTypes,
       R"(
second {
  a = $T[] parameter(0)
  ROOT b = $T[] parameter(1)
}
ENTRY main {
  x = $T[5] parameter(0)
  i = s32[4] parameter(1)
  u = $T[4] parameter(2)
  ROOT r = $T[5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
})",
       "edges $T[5]; s32[4] {-1, 5, 2147483647, 2}; edges $T[4]",
       "out-of-range",
       {AuditPoint::kScatterDropped}},
      {Opcode::kScatter,
       "add",
       kSummedTypes,
       R"(
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[4] parameter(0)
  i = s32[5] parameter(1)
  u = $T[5] parameter(2)
  ROOT r = $T[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
})",
       "ordinary $T[4]; s32[5] {3, 1, 3, 0, 3}; ordinary $T[5]",
       "collision",
       {AuditPoint::kScatterCollision}},
      {Opcode::kScatter, "no-updates", kArrayTypes, R"(
second {
  a = $T[] parameter(0)
  ROOT b = $T[] parameter(1)
}
ENTRY main {
  x = $T[5] parameter(0)
  i = s32[0] parameter(1)
  u = $T[0] parameter(2)
  ROOT r = $T[5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
})",
       "edges $T[5]; s32[0] {}; edges $T[0]", "empty"},
      {Opcode::kSelect, "scalar-pred", kArrayTypes, R"(
ENTRY main {
  p = pred[] parameter(0)
  x = $T[5] parameter(1)
  y = $T[5] parameter(2)
  ROOT r = $T[5] select(p, x, y)
})",
       "pred[] false; edges $T[5]; edges $T[5]"},
      {Opcode::kCopy, "bits", kArrayTypes, R"(
ENTRY main {
  x = $T[16] parameter(0)
  ROOT r = $T[16] copy(x)
})",
       "edges $T[16]"},
      {Opcode::kBitcast, "split", kArrayTypes, R"(
ENTRY main {
  x = $T[6] parameter(0)
  ROOT r = $T[2,3] bitcast(x)
})",
       "edges $T[6]"},
      {Opcode::kParameter, "result", kArrayTypes, R"(
ENTRY main {
  ROOT x = $T[16] parameter(0)
})",
       "edges $T[16]"},
      {Opcode::kConstant, "result",
       TypeSet::Range(ElementType::kS2, ElementType::kU64) | kFloatsWithZero | kPredTypes, R"(
ENTRY main {
  ROOT x = $T[3] constant({1, 0, 1})
})",
       ""},
      {Opcode::kIota, "last", kIntegralTypes | kFloatTypes | kComplexTypes, R"(
ENTRY main {
  ROOT r = $T[2,7] iota(), iota_dimension=1
})",
       ""},
      {Opcode::kIota, "past-the-type", kIntegralTypes | kFloatTypes | kComplexTypes, R"(
ENTRY main {
  ROOT r = $T[300] iota(), iota_dimension=0
})",
       "", "overflow"},
      {Opcode::kTuple, "swapped", kArrayTypes, R"(
ENTRY main {
  x = $T[3] parameter(0)
  y = s32[2] parameter(1)
  ROOT t = (s32[2], $T[3]) tuple(y, x)
})",
       "edges $T[3]; s32[2] {-1, 1}"},
      {Opcode::kGetTupleElement, "second", kArrayTypes, R"(
ENTRY main {
  x = $T[3] parameter(0)
  y = $T[2] parameter(1)
  t = ($T[3], $T[2]) tuple(x, y)
  ROOT r = $T[2] get-tuple-element(t), index=1
})",
       "edges $T[3]; edges $T[2]"},
  };
  return *templates;
}

}  // namespace assay
