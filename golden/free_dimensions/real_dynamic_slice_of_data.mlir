// oracle: hand
// arg0: f32[4,3] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}
// arg1: s32[] 2
// out0: f32[1,3] {{7, 8, 9}}
// A row whose number is data, as JAX exports an index in a loop.
func.func @main(%a: tensor<?x?xf32>, %i: tensor<i32>) -> tensor<1x?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %i1 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.concatenate %i1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %size = stablehlo.concatenate %one, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %limit = stablehlo.add %start, %size : tensor<2xi32>
  %ones = stablehlo.concatenate %one, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %a, %start, %limit, %ones : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}
