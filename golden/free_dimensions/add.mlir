// oracle: hand
// arg0: f32[3] {1, 2, 3}
// arg1: f32[3] {10, 20, 30}
// out0: f32[3] {11, 22, 33}
// decision: free-dimensions-refined
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.add %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}
