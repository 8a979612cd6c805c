// Cases of sums, windows, contractions, transforms and solvers.
#include "check/suite/suite_case.h"
#include "check/suite/template_types.h"

namespace assay {

const std::vector<SuiteTemplate>& ReductionTemplates() {
  static const auto* const templates = new std::vector<SuiteTemplate>{
      {Opcode::kReduce, "add", kSummedTypes, R"(
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[3,37] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[3] reduce(x, z), dimensions={1}, to_apply=sum
})",
       "ordinary $T[3,37]; zero $T[]"},
      {Opcode::kReduce, "multiply", kSummedTypes, R"(
product {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] multiply(a, b)
}
ENTRY main {
  x = $T[5,4] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[4] reduce(x, z), dimensions={0}, to_apply=product
})",
       "ordinary $T[5,4]; one $T[]"},
      {Opcode::kReduce, "maximum", kOrderedTypes, R"(
most {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] maximum(a, b)
}
ENTRY main {
  x = $T[4,23] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[4] reduce(x, z), dimensions={1}, to_apply=most
})",
       "edges $T[4,23]; least $T[]", "nans"},
      {Opcode::kReduce, "minimum", kOrderedTypes, R"(
least {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] minimum(a, b)
}
ENTRY main {
  x = $T[4,2] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[4] reduce(x, z), dimensions={1}, to_apply=least
})",
       "edges $T[4,2]; largest $T[]", "nans"},
      {Opcode::kReduce, "and", kPredTypes | kIntegralTypes, R"(
both {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] and(a, b)
}
ENTRY main {
  x = $T[6,5] parameter(0)
  n = $T[] parameter(1)
  ROOT r = $T[6] reduce(x, n), dimensions={1}, to_apply=both
})",
       "edges $T[6,5]; ones $T[]"},
      {Opcode::kReduce, "or", kPredTypes | kIntegralTypes, R"(
either {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] or(a, b)
}
ENTRY main {
  x = $T[6,5] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[] reduce(x, z), dimensions={0,1}, to_apply=either
})",
       "edges $T[6,5]; zero $T[]"},
      {Opcode::kReduce, "of-nothing", kSummedTypes, R"(
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[3,0] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[3] reduce(x, z), dimensions={1}, to_apply=sum
})",
       "ordinary $T[3,0]; zero $T[]", "empty"},
      {Opcode::kReduceWindow, "padded-sum", kSummedTypes, R"(
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[7,5] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[4,4] reduce-window(x, z), window={size=3x2 stride=2x1 pad=1_1x0_0}, to_apply=sum
})",
       "ordinary $T[7,5]; zero $T[]"},
      {Opcode::kReduceWindow, "dilated-maximum", kOrderedTypes, R"(
most {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] maximum(a, b)
}
ENTRY main {
  x = $T[9] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[13] reduce-window(x, z), window={size=3 pad=0_0 lhs_dilate=2 rhs_dilate=2}, to_apply=most
})",
       "edges $T[9]; least $T[]", "nans"},
      {Opcode::kReduceWindow, "negative-padding", kOrderedTypes, R"(
most {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] maximum(a, b)
}
ENTRY main {
  x = $T[9] parameter(0)
  z = $T[] parameter(1)
  ROOT r = $T[6] reduce-window(x, z), window={size=2 pad=-1_-1}, to_apply=most
})",
       "edges $T[9]; least $T[]", "negative-padding"},
      {Opcode::kSelectAndScatter, "maximum", kIntegralTypes | kWideFloats, R"(
pick {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT c = $T[] add(a, b)
}
ENTRY main {
  x = $T[8] parameter(0)
  s = $T[4] parameter(1)
  z = $T[] parameter(2)
  ROOT r = $T[8] select-and-scatter(x, s, z), window={size=2 stride=2}, select=pick, scatter=sum
})",
       "ordinary $T[8]; ordinary $T[4]; zero $T[]"},
      {Opcode::kScan, "sums", kSummedTypes, R"(
f {
  a = $T[] parameter(0)
  c = $T[] parameter(1)
  s = $T[] add(a, c)
  ROOT t = ($T[], $T[]) tuple(s, s)
}
ENTRY main {
  x = $T[6] parameter(0)
  c = $T[] parameter(1)
  ROOT r = ($T[6], $T[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f
})",
       "ordinary $T[6]; zero $T[]"},
      {Opcode::kDot, "matrices", kSummedTypes, R"(
ENTRY main {
  x = $T[3,19] parameter(0)
  y = $T[19,4] parameter(1)
  ROOT r = $T[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
       "ordinary $T[3,19]; ordinary $T[19,4]"},
      {Opcode::kDot, "batch", kSummedTypes, R"(
ENTRY main {
  x = $T[2,3,5] parameter(0)
  y = $T[5,2] parameter(1)
  ROOT r = $T[2,3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}
})",
       "ordinary $T[2,3,5]; ordinary $T[5,2]"},
      {Opcode::kDot, "of-nothing", kSummedTypes, R"(
ENTRY main {
  x = $T[3,0] parameter(0)
  y = $T[0,4] parameter(1)
  ROOT r = $T[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
       "ordinary $T[3,0]; ordinary $T[0,4]", "empty"},
      {Opcode::kRaggedDot, "rows", kWideFloats, R"(
ENTRY main {
  l = $T[4,2] parameter(0)
  r = $T[3,2,2] parameter(1)
  g = s32[3] parameter(2)
  ROOT d = $T[4,2] ragged-dot(l, r, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})",
       "ordinary $T[4,2]; ordinary $T[3,2,2]; s32[3] {1, 0, 3}"},
      {Opcode::kScaledDot, "blocks",
       TypeSet::Of(ElementType::kF16) | TypeSet::Of(ElementType::kBF16) | TypeSet::Of(ElementType::kF32), R"(
ENTRY main {
  l = $T[3,4] parameter(0)
  r = $T[4,2] parameter(1)
  a = f8e8m0fnu[3,2] parameter(2)
  b = f8e8m0fnu[2,2] parameter(3)
  ROOT d = f32[3,2] scaled-dot(l, r, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
       "ordinary $T[3,4]; ordinary $T[4,2]; ordinary f8e8m0fnu[3,2]; ordinary f8e8m0fnu[2,2]"},
      {Opcode::kConvolution, "strided", kSummedTypes, R"(
ENTRY main {
  x = $T[2,7,6,3] parameter(0)
  w = $T[3,2,3,4] parameter(1)
  ROOT r = $T[2,4,5,4] convolution(x, w), window={size=3x2 stride=2x1 pad=1_1x0_0}, dim_labels=b01f_01io->b01f
})",
       "ordinary $T[2,7,6,3]; ordinary $T[3,2,3,4]"},
      {Opcode::kConvolution, "dilated-negative-padding", kSummedTypes, R"(
ENTRY main {
  x = $T[1,6,2] parameter(0)
  w = $T[2,2,3] parameter(1)
  ROOT r = $T[1,7,3] convolution(x, w), window={size=2 pad=-1_-1 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f
})",
       "ordinary $T[1,6,2]; ordinary $T[2,2,3]", "negative-padding"},
      {Opcode::kConvolution, "groups", kSummedTypes, R"(
ENTRY main {
  x = $T[1,5,4] parameter(0)
  w = $T[3,2,6] parameter(1)
  ROOT r = $T[1,3,6] convolution(x, w), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2
})",
       "ordinary $T[1,5,4]; ordinary $T[3,2,6]"},
      {Opcode::kFft, "forward", kComplexTypes, R"(
ENTRY main {
  x = $T[2,12] parameter(0)
  ROOT r = $T[2,12] fft(x), fft_type=FFT, fft_length={12}
})",
       "ordinary $T[2,12]"},
      {Opcode::kFft, "inverse", kComplexTypes, R"(
ENTRY main {
  x = $T[7] parameter(0)
  ROOT r = $T[7] fft(x), fft_type=IFFT, fft_length={7}
})",
       "ordinary $T[7]"},
      {Opcode::kFft, "real", TypeSet::Of(ElementType::kF32) | TypeSet::Of(ElementType::kF64), R"(
ENTRY main {
  x = $T[8] parameter(0)
  ROOT r = $C[5] fft(x), fft_type=RFFT, fft_length={8}
})",
       "ordinary $T[8]"},
      {Opcode::kFft, "inverse-real", kComplexTypes, R"(
ENTRY main {
  x = $T[5] parameter(0)
  ROOT r = $C[8] fft(x), fft_type=IRFFT, fft_length={8}
})",
       "ordinary $T[5]"},
      {Opcode::kCholesky,
       "lower",
       kWideFloats,
       R"(
ENTRY main {
  x = $T[3,3] parameter(0)
  c = $T[3,3] cholesky(x), lower=true
  i = s32[3,3] iota(), iota_dimension=0
  j = s32[3,3] iota(), iota_dimension=1
  p = pred[3,3] compare(i, j), direction=GE
  z = $T[] constant(0)
  o = $T[3,3] broadcast(z), dimensions={}
  ROOT r = $T[3,3] select(p, c, o)
})",
       "$T[3,3] {{4, 2, 2}, {2, 5, 3}, {2, 3, 6}}",
       "",
       {AuditPoint::kOtherTriangle}},
      {Opcode::kTriangularSolve, "lower", kWideFloats, R"(
ENTRY main {
  a = $T[3,3] parameter(0)
  b = $T[3,2] parameter(1)
  ROOT r = $T[3,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
})",
       "$T[3,3] {{2, 0, 0}, {1, 4, 0}, {3, 1, 0.5}}; ordinary $T[3,2]"},
      {Opcode::kTriangularSolve, "unit-transposed", kWideFloats, R"(
ENTRY main {
  a = $T[3,3] parameter(0)
  b = $T[2,3] parameter(1)
  ROOT r = $T[2,3] triangular-solve(a, b), left_side=false, lower=false, unit_diagonal=true, transpose_a=TRANSPOSE
})",
       "$T[3,3] {{7, 1, 2}, {nan, 7, 3}, {nan, nan, 7}}; ordinary $T[2,3]"},
      {Opcode::kBatchNormTraining, "features", kWideFloats, R"(
ENTRY main {
  x = $T[3,4,2] parameter(0)
  s = $T[2] parameter(1)
  o = $T[2] parameter(2)
  ROOT r = ($T[3,4,2], $T[2], $T[2]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=2
})",
       "ordinary $T[3,4,2]; ordinary $T[2]; ordinary $T[2]"},
      {Opcode::kBatchNormInference, "features", kWideFloats, R"(
ENTRY main {
  x = $T[3,4,2] parameter(0)
  s = $T[2] parameter(1)
  o = $T[2] parameter(2)
  m = $T[2] parameter(3)
  v = $T[2] parameter(4)
  ROOT r = $T[3,4,2] batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index=2
})",
       "ordinary $T[3,4,2]; ordinary $T[2]; ordinary $T[2]; ordinary $T[2]; $T[2] {0.5, 2}"},
      {Opcode::kBatchNormGrad, "features", kWideFloats, R"(
ENTRY main {
  x = $T[3,4,2] parameter(0)
  s = $T[2] parameter(1)
  m = $T[2] parameter(2)
  v = $T[2] parameter(3)
  g = $T[3,4,2] parameter(4)
  ROOT r = ($T[3,4,2], $T[2], $T[2]) batch-norm-grad(x, s, m, v, g), epsilon=0.001, feature_index=2
})",
       "ordinary $T[3,4,2]; ordinary $T[2]; ordinary $T[2]; $T[2] {0.5, 2}; ordinary $T[3,4,2]"},
  };
  return *templates;
}

}  // namespace assay
