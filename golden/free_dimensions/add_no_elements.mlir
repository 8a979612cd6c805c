// oracle: hand
// arg0: f32[0] {}
// arg1: f32[0] {}
// out0: f32[0] {}
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.add %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}
