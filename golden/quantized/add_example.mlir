// oracle: spec
// rule: QUANT-23
// arg0: s8[4] {-7, 100, -128, 127}
// arg1: s8[4] {17, 127, -128, 127}
// out0: s8[4] {6, 87, -91, 100}
func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.5:-10>>, %b: tensor<4x!quant.uniform<i8:f32, 0.25:20>>) -> (tensor<4x!quant.uniform<i8:f32, 1.0:5>>) {
  %0 = stablehlo.add %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.5:-10>>, tensor<4x!quant.uniform<i8:f32, 0.25:20>>) -> tensor<4x!quant.uniform<i8:f32, 1.0:5>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 1.0:5>>
}
