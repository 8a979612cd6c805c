// oracle: hand
// arg0: f32[2] {1, -0.0}
// out0: f32[2] {1, -0.0}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%x) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
