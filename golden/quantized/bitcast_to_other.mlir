// oracle: hand
// rule: QUANT-11
// arg0: s8[3] {-20, -13, -6}
// out0: u8[3] {236, 243, 250}
func.func @main(%a: tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<3x!quant.uniform<ui8:f32, 0.25:0>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x!quant.uniform<ui8:f32, 0.25:0>>
  return %0 : tensor<3x!quant.uniform<ui8:f32, 0.25:0>>
}
