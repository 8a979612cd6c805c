// refuse: 5 dimension 0 is 3 in tensor<3xf32> and 4 in tensor<4xf32>
// arg0: f32[3] {1, 2, 3}
func.func @main(%a: tensor<?xf32>) -> tensor<4xf32> {
  %k = stablehlo.constant dense<1.0> : tensor<4xf32>
  %c = "stablehlo.add"(%a, %k) : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
