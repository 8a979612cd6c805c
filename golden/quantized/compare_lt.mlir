// oracle: hand
// rule: QUANT-21
// arg0: s8[6] {-5, 11, 27, -21, 127, -128}
// arg1: s8[6] {20, 21, 23, 19, -128, 127}
// out0: pred[6] {false, false, false, true, false, true}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.0625:-5>>, %b: tensor<6x!quant.uniform<i8:f32, 0.25:20>>) -> (tensor<6xi1>) {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<6x!quant.uniform<i8:f32, 0.0625:-5>>, tensor<6x!quant.uniform<i8:f32, 0.25:20>>) -> tensor<6xi1>
  return %0 : tensor<6xi1>
}
