// Each StableHLO operation against the HLO that it becomes.
#include "fmt/format.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

struct Pair {
  std::string mlir, hlo;
};

// The main function with the text's arguments %a and %b, and the HLO with p0 and p1.
void CheckAll(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) CheckSame(pair.mlir, pair.hlo);
}

TEST_CASE("mlir: elementwise operations have both forms", "[mlir]") {
  CheckAll({
      {Main("%a: tensor<3xf32>, %b: tensor<3xf32>", "tensor<3xf32>",
            R"(%0 = stablehlo.add %a, %b : tensor<3xf32>
%1 = "stablehlo.multiply"(%0, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
return %1 : tensor<3xf32>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 b = f32[3] parameter(1)
 c = f32[3] add(a, b)
ROOT d = f32[3] multiply(c, b) })"},
      {Main(
           "%a: tensor<3xf32>", "tensor<3xf32>",
           R"(%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<3xf32>
return %0 : tensor<3xf32>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 ROOT c = f32[3] exponential(a) })"},
      {Main("%a: tensor<3xi32>, %b: tensor<3xi32>", "tensor<3xi1>",
            R"(%0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
return %0 : tensor<3xi1>)"),
       R"(ENTRY e { a = s32[3] parameter(0)
 b = s32[3] parameter(1)
 ROOT c = pred[3] compare(a, b), direction=LT })"},
      {Main("%p: tensor<i1>, %a: tensor<3xf32>, %b: tensor<3xf32>", "tensor<3xf32>",
            R"(%0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<3xf32>
return %0 : tensor<3xf32>)"),
       R"(ENTRY e { p = pred[] parameter(0)
 a = f32[3] parameter(1)
 b = f32[3] parameter(2)
q = pred[3] broadcast(p), dimensions={}
 ROOT c = f32[3] select(q, a, b) })"},
      {Main("%l: tensor<f32>, %a: tensor<3xf32>, %h: tensor<f32>", "tensor<3xf32>",
            R"(%0 = stablehlo.clamp %l, %a, %h : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
return %0 : tensor<3xf32>)"),
       R"(ENTRY e { l = f32[] parameter(0)
 a = f32[3] parameter(1)
 h = f32[] parameter(2)
m = f32[3] broadcast(l), dimensions={}
 n = f32[3] broadcast(h), dimensions={}
ROOT c = f32[3] clamp(m, a, n) })"},
      {Main("%a: tensor<3xf32>, %b: tensor<3xf32>", "tensor<3xcomplex<f32>>",
            R"(%0 = stablehlo.complex %a, %b : tensor<3xcomplex<f32>>
return %0 : tensor<3xcomplex<f32>>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 b = f32[3] parameter(1)
 ROOT c = c64[3] complex(a, b) })"},
      {Main("%a: tensor<3xf32>", "tensor<3xf32>",
            R"(%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<3xf32>
return %0 : tensor<3xf32>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 ROOT c = f32[3] reduce-precision(a), exponent_bits=5, mantissa_bits=10 })"},
      {Main("%a: tensor<3xf32>", "tensor<3xbf16>",
            R"(%0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xbf16>
return %0 : tensor<3xbf16>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 ROOT c = bf16[3] convert(a) })"},
  });
}

TEST_CASE("mlir: shape operations", "[mlir]") {
  CheckAll({
      {Main("%a: tensor<2x1xf32>", "tensor<2x3x4xf32>",
            R"(%0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x3x4xf32>
return %0 : tensor<2x3x4xf32>)"),
       R"(ENTRY e { a = f32[2,1] parameter(0)
 b = f32[2] reshape(a)
ROOT c = f32[2,3,4] broadcast(b), dimensions={0} })"},
      {Main("%a: tensor<3xf32>", "tensor<2x3xf32>",
            R"(%0 = stablehlo.broadcast %a, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
return %0 : tensor<2x3xf32>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 ROOT c = f32[2,3] broadcast(a), dimensions={1} })"},
      {Main("%a: tensor<2x3xf32>", "tensor<3x2xf32>",
            R"(%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
%1 = stablehlo.reverse %0, dims = [1] : tensor<3x2xf32>
return %1 : tensor<3x2xf32>)"),
       R"(ENTRY e { a = f32[2,3] parameter(0)
 b = f32[3,2] transpose(a), dimensions={1,0}
ROOT c = f32[3,2] reverse(b), dimensions={1} })"},
      {Main("%a: tensor<4x8xf32>", "tensor<2x4xf32>",
            R"(%0 = stablehlo.slice %a [1:3, 0:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
return %0 : tensor<2x4xf32>)"),
       R"(ENTRY e { a = f32[4,8] parameter(0)
 ROOT c = f32[2,4] slice(a), slice={[1:3], [0:8:2]} })"},
      {Main(
           "%a: tensor<4x8xf32>, %i: tensor<i32>, %j: tensor<i32>", "tensor<2x4xf32>",
           R"(%0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [2, 4] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
return %0 : tensor<2x4xf32>)"),
       R"(ENTRY e { a = f32[4,8] parameter(0)
 i = s32[] parameter(1)
 j = s32[] parameter(2)
ROOT c = f32[2,4] dynamic-slice(a, i, j), dynamic_slice_sizes={2,4} })"},
      {Main("%a: tensor<2xf32>, %b: tensor<3xf32>", "tensor<5xf32>",
            R"(%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
return %0 : tensor<5xf32>)"),
       R"(ENTRY e { a = f32[2] parameter(0)
 b = f32[3] parameter(1)
 ROOT c = f32[5] concatenate(a, b), dimensions={0} })"},
      {Main(
           "%a: tensor<3xf32>, %b: tensor<f32>", "tensor<7xf32>",
           R"(%0 = stablehlo.pad %a, %b, low = [1], high = [-1], interior = [2] : (tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
return %0 : tensor<7xf32>)"),
       R"(ENTRY e { a = f32[3] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[7] pad(a, b), padding=1_-1_2 })"},
      {Main("", "tensor<2x3xi32>",
            R"(%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
return %0 : tensor<2x3xi32>)"),
       "ENTRY e { ROOT c = s32[2,3] iota(), iota_dimension=1 }"},
      {Main(
           "%a: tensor<6x4xf32>, %b: tensor<2x1xi32>", "tensor<2x4xf32>",
           R"(%0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
return %0 : tensor<2x4xf32>)"),
       R"(ENTRY e { a = f32[6,4] parameter(0)
 b = s32[2,1] parameter(1)
 ROOT c = f32[2,4] gather(a, b), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4} })"},
  });
}

TEST_CASE("mlir: regions become computations", "[mlir]") {
  const std::string add =
      R"(add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
)";
  CheckAll({
      {Main(
           "%a: tensor<2x3xf32>, %i: tensor<f32>", "tensor<2xf32>",
           R"(%0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
return %0 : tensor<2xf32>)"),
       add + R"(ENTRY e { a = f32[2,3] parameter(0)
 i = f32[] parameter(1)
ROOT c = f32[2] reduce(a, i), dimensions={1}, to_apply=add })"},
      // The long form lists arguments in pairs; subtract shows which is the accumulator.
      {Main(
           "%a: tensor<3xf32>, %b: tensor<3xi32>, %i: tensor<f32>, %j: tensor<i32>",
           "(tensor<f32>, tensor<i32>)",
           R"(%0:2 = stablehlo.reduce(%a init: %i), (%b init: %j) across dimensions = [0] : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
 reducer(%x: tensor<f32>, %y: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>)  {
  %1 = stablehlo.subtract %x, %y : tensor<f32>
  %2 = stablehlo.subtract %v, %u : tensor<i32>
  stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
 }
return %0#0, %0#1 : tensor<f32>, tensor<i32>)"),
       R"(f { x = f32[] parameter(0)
 u = s32[] parameter(1)
 y = f32[] parameter(2)
 v = s32[] parameter(3)
p = f32[] subtract(x, y)
 q = s32[] subtract(v, u)
 ROOT r = (f32[], s32[]) tuple(p, q) }
ENTRY e { a = f32[3] parameter(0)
 b = s32[3] parameter(1)
 i = f32[] parameter(2)
 j = s32[] parameter(3)
ROOT c = (f32[], s32[]) reduce(a, b, i, j), dimensions={0}, to_apply=f })"},
      // A constant from outside is built again inside.
      {Main("%a: tensor<3xf32>, %i: tensor<f32>", "tensor<f32>",
            R"(%c = stablehlo.constant dense<2.5> : tensor<f32>
%0 = "stablehlo.reduce"(%a, %i) ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.multiply %x, %c : tensor<f32>
  %2 = stablehlo.add %1, %y : tensor<f32>
  "stablehlo.return"(%2) : (tensor<f32>) -> ()
}) {dimensions = dense<0> : tensor<1xi64>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
"func.return"(%0) : (tensor<f32>) -> ())"),
       R"(f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 c = f32[] constant(2.5)
 d = f32[] multiply(x, c)
ROOT z = f32[] add(d, y) }
ENTRY e { a = f32[3] parameter(0)
 i = f32[] parameter(1)
ROOT c = f32[] reduce(a, i), dimensions={0}, to_apply=f })"},
      {Main(
           "%a: tensor<6xf32>, %i: tensor<f32>", "tensor<3xf32>",
           R"(%0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) : (tensor<6xf32>, tensor<f32>) -> tensor<3xf32>
return %0 : tensor<3xf32>)"),
       add + R"(ENTRY e { a = f32[6] parameter(0)
 i = f32[] parameter(1)
ROOT c = f32[3] reduce-window(a, i), window={size=3 stride=2 pad=1_0}, to_apply=add })"},
      {Main(
           "%a: tensor<4x4xf32>, %s: tensor<2x2xf32>, %i: tensor<f32>", "tensor<4x4xf32>",
           R"(%0 = "stablehlo.select_and_scatter"(%a, %s, %i) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}, {
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
return %0 : tensor<4x4xf32>)"),
       add + R"(ge { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = pred[] compare(x, y), direction=GE }
ENTRY e { a = f32[4,4] parameter(0)
 s = f32[2,2] parameter(1)
 i = f32[] parameter(2)
ROOT c = f32[4,4] select-and-scatter(a, s, i), window={size=2x2 stride=2x2}, select=ge, scatter=add })"},
      {Main(
           "%a: tensor<5xf32>, %n: tensor<2x1xi32>, %u: tensor<2xf32>", "tensor<5xf32>",
           R"(%0 = "stablehlo.scatter"(%a, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %1 = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) : (tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<5xf32>
return %0 : tensor<5xf32>)"),
       add + R"(ENTRY e { a = f32[5] parameter(0)
 n = s32[2,1] parameter(1)
 u = f32[2] parameter(2)
ROOT c = f32[5] scatter(a, n, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add })"},
  });
}

TEST_CASE("mlir: loops and branches take what they use from outside", "[mlir]") {
  CheckAll({
      {Main("%n: tensor<i32>, %d: tensor<3xf32>", "tensor<3xf32>",
            R"(%z = stablehlo.constant dense<0> : tensor<i32>
%o = stablehlo.constant dense<1> : tensor<i32>
%five = stablehlo.constant dense<5> : tensor<i32>
%m = stablehlo.minimum %n, %five : tensor<i32>
%r:2 = stablehlo.while(%i = %z, %x = %d) : tensor<i32>, tensor<3xf32>
cond {
  %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
} do {
  %j = stablehlo.add %i, %o : tensor<i32>
  %y = stablehlo.add %x, %d : tensor<3xf32>
  stablehlo.return %j, %y : tensor<i32>, tensor<3xf32>
}
return %r#1 : tensor<3xf32>)"),
       R"(body { t = (s32[], f32[3], f32[3], s32[]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
x = f32[3] get-tuple-element(t), index=1
 d = f32[3] get-tuple-element(t), index=2
m = s32[] get-tuple-element(t), index=3
 o = s32[] constant(1)
 j = s32[] add(i, o)
 y = f32[3] add(x, d)
ROOT r = (s32[], f32[3], f32[3], s32[]) tuple(j, y, d, m) }
cond { t = (s32[], f32[3], f32[3], s32[]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
m = s32[] get-tuple-element(t), index=3
 ROOT c = pred[] compare(i, m), direction=LT }
ENTRY e { n = s32[] parameter(0)
 d = f32[3] parameter(1)
 z = s32[] constant(0)
 f = s32[] constant(5)
m = s32[] minimum(n, f)
 t = (s32[], f32[3], f32[3], s32[]) tuple(z, d, d, m)
w = (s32[], f32[3], f32[3], s32[]) while(t), condition=cond, body=body
ROOT r = f32[3] get-tuple-element(w), index=1 })"},
      {Main("%p: tensor<i1>, %a: tensor<3xf32>, %b: tensor<3xf32>", "tensor<3xf32>",
            R"(%0 = "stablehlo.if"(%p) ({
  %1 = stablehlo.add %a, %b : tensor<3xf32>
  stablehlo.return %1 : tensor<3xf32>
}, {
  %1 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  stablehlo.return %1 : tensor<3xf32>
}) : (tensor<i1>) -> tensor<3xf32>
return %0 : tensor<3xf32>)"),
       R"(ENTRY e { p = pred[] parameter(0)
 a = f32[3] parameter(1)
 b = f32[3] parameter(2)
 c = f32[3] add(a, b)
d = f32[3] constant({1, 2, 3})
 q = pred[3] broadcast(p), dimensions={}
 ROOT r = f32[3] select(q, c, d) })"},
      {Main("%p: tensor<i32>, %a: tensor<3xf32>", "(tensor<3xf32>, tensor<3xf32>)",
            R"(%0:2 = "stablehlo.case"(%p) ({
  stablehlo.return %a, %a : tensor<3xf32>, tensor<3xf32>
}, {
  %1 = stablehlo.negate %a : tensor<3xf32>
  stablehlo.return %1, %a : tensor<3xf32>, tensor<3xf32>
}) : (tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>)
return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>)"),
       R"(ENTRY e { p = s32[] parameter(0)
 a = f32[3] parameter(1)
 z = s32[] constant(0)
c = pred[] compare(p, z), direction=EQ
 q = pred[3] broadcast(c), dimensions={}
 n = f32[3] negate(a)
s = f32[3] select(q, a, n)
 ROOT r = (f32[3], f32[3]) tuple(s, a) })"},
      // A branch inside of a loop's body that uses a value from outside of both.
      {Main("%a: tensor<f32>, %k: tensor<f32>", "tensor<f32>",
            R"(%z = stablehlo.constant dense<0> : tensor<i32>
%r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<f32>
cond {
  %t = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.compare LT, %i, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
} do {
  %o = stablehlo.constant dense<1> : tensor<i32>
  %y = "stablehlo.case"(%i) ({
    %u = stablehlo.multiply %x, %k : tensor<f32>
    stablehlo.return %u : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %j = stablehlo.add %i, %o : tensor<i32>
  stablehlo.return %j, %y : tensor<i32>, tensor<f32>
}
return %r#1 : tensor<f32>)"),
       R"(ENTRY e { a = f32[] parameter(0)
 k = f32[] parameter(1)
 ROOT r = f32[] multiply(a, k) })"},
  });
}

TEST_CASE("mlir: sort, dots, convolutions, transforms and solvers", "[mlir]") {
  CheckAll({
      {Main("%a: tensor<5xf32>, %b: tensor<5xi32>", "(tensor<5xf32>, tensor<5xi32>)",
            R"(%0:2 = "stablehlo.sort"(%a, %b) <{is_stable = true}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>, %u: tensor<i32>, %v: tensor<i32>):
  %1 = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>)"),
       R"(f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 u = s32[] parameter(2)
 v = s32[] parameter(3)
ROOT c = pred[] compare(x, y), direction=GT, type=TOTALORDER }
ENTRY e { a = f32[5] parameter(0)
b = s32[5] parameter(1)
 ROOT s = (f32[5], s32[5]) sort(a, b), dimensions={0}, is_stable=true, to_apply=f })"},
      {Main(
           "%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>", "tensor<2x3x5xf32>",
           R"(%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
return %0 : tensor<2x3x5xf32>)"),
       R"(ENTRY e { a = f32[2,3,4] parameter(0)
 b = f32[2,4,5] parameter(1)
 ROOT c = f32[2,3,5] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} })"},
      {Main(
           "%a: tensor<2x3xf32>, %b: tensor<3x2xf32>", "tensor<2x2xf32>",
           R"(%0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
return %0 : tensor<2x2xf32>)"),
       R"(ENTRY e { a = f32[2,3] parameter(0)
 b = f32[3,2] parameter(1)
 ROOT c = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_tf32_tf32_f32_x3 })"},
      {Main(
           "%a: tensor<1x5x5x2xf32>, %k: tensor<3x3x2x4xf32>", "tensor<1x3x3x4xf32>",
           R"(%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x3x3x4xf32>
return %0 : tensor<1x3x3x4xf32>)"),
       R"(ENTRY e { a = f32[1,5,5,2] parameter(0)
 k = f32[3,3,2,4] parameter(1)
 ROOT c = f32[1,3,3,4] convolution(a, k), window={size=3x3 stride=2x2 pad=1_1x1_1 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f })"},
      {Main(
           "%a: tensor<3x8xf32>", "tensor<3x5xcomplex<f32>>",
           R"(%0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
return %0 : tensor<3x5xcomplex<f32>>)"),
       R"(ENTRY e { a = f32[3,8] parameter(0)
 ROOT c = c64[3,5] fft(a), fft_type=RFFT, fft_length={8} })"},
      {Main(
           "%a: tensor<3x3xf32>, %b: tensor<3x1xf32>", "tensor<3x1xf32>",
           R"(%0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
return %0 : tensor<3x1xf32>)"),
       R"(ENTRY e { a = f32[3,3] parameter(0)
 b = f32[3,1] parameter(1)
 ROOT c = f32[3,1] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=true, transpose_a=TRANSPOSE })"},
      {Main(
           "%s: tensor<2xui64>", "(tensor<2xui64>, tensor<4xui32>)",
           R"(%0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
return %0, %1 : tensor<2xui64>, tensor<4xui32>)"),
       R"(ENTRY e { s = u64[2] parameter(0)
 ROOT c = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry })"},
  });
}

TEST_CASE("mlir: CHLO operations are those of HLO or built of them", "[mlir]") {
  CheckAll({
      {Main("%a: tensor<2x6xf32>", "(tensor<2x3xf32>, tensor<2x3xi32>)",
            R"(%v, %i = chlo.top_k(%a, k = 3) : tensor<2x6xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
return %v, %i : tensor<2x3xf32>, tensor<2x3xi32>)"),
       R"(ENTRY e { a = f32[2,6] parameter(0)
 ROOT c = (f32[2,3], s32[2,3]) topk(a), k=3, largest=true })"},
      {Main("%a: tensor<4xf32>", "tensor<4xf32>",
            R"(%0 = chlo.square %a : tensor<4xf32> -> tensor<4xf32>
%1 = chlo.sinh %0 : tensor<4xf32> -> tensor<4xf32>
%2 = chlo.atan %1 : tensor<4xf32> -> tensor<4xf32>
return %2 : tensor<4xf32>)"),
       R"(ENTRY e { a = f32[4] parameter(0)
 b = f32[4] multiply(a, a)
 c = f32[4] sinh(b)
 o = f32[] constant(1)
p = f32[4] broadcast(o), dimensions={}
 ROOT d = f32[4] atan2(c, p) })"},
      {Main("%a: tensor<4xcomplex<f32>>", "tensor<4xcomplex<f32>>",
            R"(%0 = chlo.conj %a : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
return %0 : tensor<4xcomplex<f32>>)"),
       R"(ENTRY e { a = c64[4] parameter(0)
 b = f32[4] real(a)
 c = f32[4] imag(a)
 d = f32[4] negate(c)
ROOT r = c64[4] complex(b, d) })"},
      {Main("%a: tensor<2x1xf32>, %b: tensor<3xf32>", "tensor<2x3xf32>",
            R"(%0 = chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
return %0 : tensor<2x3xf32>)"),
       R"(ENTRY e { a = f32[2,1] parameter(0)
 b = f32[3] parameter(1)
 c = f32[2] reshape(a)
d = f32[2,3] broadcast(c), dimensions={0}
 f = f32[2,3] broadcast(b), dimensions={1}
ROOT r = f32[2,3] add(d, f) })"},
      // A composite of this name is the operation, whatever its decomposition says.
      {Main(
           "%a: tensor<4xf32>", "tensor<4xf32>",
           R"(%0 = stablehlo.composite "chlo.erf" %a {decomposition = @wrong, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
return %0 : tensor<4xf32>)") +
           "func.func private @wrong(%a: tensor<4xf32>) -> tensor<4xf32> {\nreturn %a : tensor<4xf32>\n}",
       R"(ENTRY e { a = f32[4] parameter(0)
 ROOT c = f32[4] erf(a) })"},
      {Main(
           "%a: tensor<4xf32>", "tensor<4xf32>",
           R"(%0 = stablehlo.composite "my.op" %a {composite_attributes = {k = 2 : i64}, decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
return %0 : tensor<4xf32>)") +
           R"(func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
%0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
return %0 : tensor<4xf32>
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
%0 = stablehlo.negate %a : tensor<4xf32>
return %0 : tensor<4xf32>
})",
       R"(ENTRY e { a = f32[4] parameter(0)
 ROOT c = f32[4] negate(a) })"},
  });
}

// Against mpfr: erf_inv(0.5) = 0.476936276204469873..., erf_inv(0.999) = 2.32675376551352...
TEST_CASE("mlir: chlo.erf_inv is the inverse of erf, rounded to f32", "[mlir]") {
  const std::string text = Main(
      "", "tensor<9xf32>",
      R"(%c = stablehlo.constant dense<[0.5, -0.5, 1.0, -1.0, 1.5, -0.0, 0x7FC00000, 1.0e-30, 0.25]> : tensor<9xf32>
%0 = chlo.erf_inv %c : tensor<9xf32> -> tensor<9xf32>
return %0 : tensor<9xf32>)");
  const absl::StatusOr<Program> program = Verified(ParseStableHloText(text));
  REQUIRE(program.ok());
  const absl::StatusOr<Literal> value = program->Run({});
  REQUIRE(value.ok());
  // 0.4769362762, 8.862269254527580e-31 = 1e-30 sqrt(pi) / 2, 0.2253120550121781.
  const absl::StatusOr<Shape> shape = Shape::Array(ElementType::kF32, std::vector<int64_t>{9});
  const absl::StatusOr<Literal> wanted = ParseLiteral(
      *shape,
      "{0.47693627620446987, -0.47693627620446987, inf, -inf, nan, -0.0, nan, 8.8622692545275801e-31, "
      "0.22531205501217809}");
  REQUIRE(wanted.ok());
  INFO(LiteralToText(*value));
  CHECK(Literal::BitwiseEqual(*value, *wanted));
}

// x, y and the neighbour, by hand: from zero the smallest subnormal, past the largest infinity,
// equal gives y.
TEST_CASE("mlir: chlo.next_after steps to the neighbouring number", "[mlir]") {
  const std::string value = Evaluated(Main(
      "", "tensor<9xf32>",
      R"(%x = stablehlo.constant dense<[1.0, 1.0, -1.0, 0.0, 0.0, -0.0, 0x7F7FFFFF, 0x7F800000, 1.0]> : tensor<9xf32>
%y = stablehlo.constant dense<[2.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<9xf32>
%0 = chlo.next_after %x, %y : tensor<9xf32>, tensor<9xf32> -> tensor<9xf32>
return %0 : tensor<9xf32>)"));
  CHECK(value ==
        "{0x1.000002p+0, 0x1.fffffep-1, -0x1.fffffep-1, 0x1p-149, -0x1p-149, 0x0p+0, inf, 0x1.fffffep+127, "
        "nan}");
}

TEST_CASE("mlir: chlo.broadcast_next_after repeats the smaller operand", "[mlir]") {
  CHECK(Evaluated(Main("", "tensor<2x2xf16>",
                       R"(%x = stablehlo.constant dense<[[1.0], [0.0]]> : tensor<2x1xf16>
%y = stablehlo.constant dense<[2.0, -2.0]> : tensor<2xf16>
%0 = chlo.broadcast_next_after %x, %y : (tensor<2x1xf16>, tensor<2xf16>) -> tensor<2x2xf16>
return %0 : tensor<2x2xf16>)")) == "{ { 0x1.004p+0, 0x1.ffcp-1 }, { 0x1p-24, -0x1p-24 } }");
}

// erfc(1) = 0.157299207, lgamma(-0.5) = log(2 sqrt(pi)) = 1.265512123, digamma(1) = -0.577215665.
TEST_CASE("mlir: functions that HLO has not are rounded once", "[mlir]") {
  const auto value = [](const std::string& name, const std::string& x) {
    return Evaluated(Main("", "tensor<f32>",
                          fmt::format(R"(%x = stablehlo.constant dense<{}> : tensor<f32>
%0 = chlo.{} %x : tensor<f32> -> tensor<f32>
return %0 : tensor<f32>)",
                                      x, name)));
  };
  CHECK(value("erfc", "1.0") == "0x1.422616p-3");
  CHECK(value("lgamma", "-0.5") == "0x1.43f89ap+0");
  CHECK(value("digamma", "1.0") == "-0x1.2788dp-1");
  CHECK(value("bessel_i1e", "0.5") == "0x1.40598cp-3");
  CHECK(value("asin_acos_kernel", "1.0") == "operation 'chlo.asin_acos_kernel'");
}

TEST_CASE("mlir: chlo.scan is HLO's", "[mlir][scan]") {
  const std::string scan = R"(ENTRY e {{ a = f32[3,2] parameter(0)
 c = f32[2] parameter(1)
 s = (f32[3,2], f32[2]) scan(a, c), dimensions={{0}}, num_carries=1, {}to_apply=f
ROOT r = f32[3,2] get-tuple-element(s), index=0 }})";
  const std::string body = R"(f { x = f32[2] parameter(0)
 y = f32[2] parameter(1)
 z = f32[2] subtract(x, y)
ROOT t = (f32[2], f32[2]) tuple(y, z) }
)";
  for (const char* const reverse : {"", "is_reverse=true, "}) {
    const std::string attributes = *reverse == 0 ? "" : "attributes {is_reverse = true} ";
    CheckSame(Main("%a: tensor<3x2xf32>, %c: tensor<2xf32>", "tensor<3x2xf32>",
                   "%0:2 = chlo.scan(%a) inits (%c) dimension=0 " + attributes + R"({
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    %z = stablehlo.subtract %x, %y : tensor<2xf32>
    stablehlo.return %y, %z : tensor<2xf32>, tensor<2xf32>
} : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
return %0#0 : tensor<3x2xf32>)"),
              body + fmt::format(fmt::runtime(scan), reverse));
  }
}

TEST_CASE("mlir: chlo.ragged_dot is HLO's", "[mlir]") {
  CheckSame(
      Main(
          "%a: tensor<5x3xf32>, %b: tensor<2x3x4xf32>, %g: tensor<2xi32>", "tensor<5x4xf32>",
          R"(%0 = "chlo.ragged_dot"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
return %0 : tensor<5x4xf32>)"),
      R"(ENTRY e { a = f32[5,3] parameter(0)
 b = f32[2,3,4] parameter(1)
 g = s32[2] parameter(2)
ROOT c = f32[5,4] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0} })");
}

TEST_CASE("mlir: instructions are named after their opcodes and numbered from 1", "[mlir]") {
  std::string body = "%0 = stablehlo.negate %a : tensor<f32>\n";
  for (int i = 1; i < 1000; ++i) {
    body += "%" + std::to_string(i) + " = stablehlo.negate %" + std::to_string(i - 1) + " : tensor<f32>\n";
  }
  const absl::StatusOr<Module> module =
      ParseStableHloText(Main("%a: tensor<f32>", "tensor<f32>", body + "return %999 : tensor<f32>"));
  REQUIRE(module.ok());
  const std::vector<Instruction>& instructions = module->entry_computation().instructions;
  REQUIRE(instructions.size() == 1001);
  CHECK(instructions[0].name == "parameter.1");
  for (size_t i = 1; i < instructions.size(); ++i) {
    CHECK(instructions[i].name == "negate." + std::to_string(i + 1));
  }
}

}  // namespace
}  // namespace assay
