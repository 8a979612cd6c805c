// oracle: hand
// rule: QUANT-32
// arg0: s8[2,2] {{1, 2}, {-1, -2}}
// out0: s16[2] {513, -257}
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i16:f32, 0.5:3>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i16:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i16:f32, 0.5:3>>
}
