// refuse: 5 operand tensor<3xf32> has size 3 in dimension 0, and the shape [2,2] size 2 in dimension 1
// arg0: f32[3] {1, 2, 3}
func.func @main(%a: tensor<?xf32>) -> tensor<2x?xf32> {
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
