// oracle: hand
// arg0: s32[4] {1, 2, 3, 4}
// out0: s32[4] {1, 3, 6, 10}
// A cumulative sum, as JAX exports it.
func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xi32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.subtract %n1, %one : tensor<1xi32>
  %l2 = stablehlo.reshape %l : (tensor<1xi32>) -> tensor<1x1xi32>
  %z2 = stablehlo.constant dense<0> : tensor<1x1xi32>
  %p = stablehlo.concatenate %l2, %z2, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%a, %z, %n1, %one, %one, %one, %p) {called_computations = [@plus]} : (tensor<?xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func private @plus(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %x, %y : tensor<i32>
  return %0 : tensor<i32>
}
