// oracle: hand
// arg0: s8[2] {-20, -13}
// out0: s8[2] {-20, -13}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  check.expect_eq_const %a, dense<[-20, -13]> : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq %a, %a : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %a : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
