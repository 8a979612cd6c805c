// oracle: hand
// rule: QUANT-21
// arg0: s8[3] {1, 2, -128}
// out0: pred[3] {true, true, true}
func.func @main(%a: tensor<3x!quant.uniform<i8:f16, 60000.0:0>>) -> (tensor<3xi1>) {
  %0 = stablehlo.is_finite %a : (tensor<3x!quant.uniform<i8:f16, 60000.0:0>>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}
