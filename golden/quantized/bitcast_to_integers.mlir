// oracle: hand
// rule: QUANT-32
// arg0: s8[3] {-20, -13, -6}
// out0: s8[3] {-20, -13, -6}
func.func @main(%a: tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<3xi8>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}
