// refuse: 4 stablehlo.dynamic_broadcast_in_dim: the sizes of its result tensor<?xf32> do not follow from its operands
// arg0: s32[1] {3}
// arg1: f32[1] {5}
func.func @main(%n: tensor<1xi32>, %a: tensor<?xf32>) -> tensor<?xf32> {
  %k = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.dynamic_broadcast_in_dim %k, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
