// refuse: 5 stablehlo.add: dimension 0 is 3 in tensor<3xf32> and 4 in tensor<4xf32>
// arg0: f32[3] {1, 2, 3}
// arg1: f32[4] {1, 2, 3, 4}
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.add %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}
