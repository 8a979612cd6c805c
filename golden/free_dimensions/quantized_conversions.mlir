// oracle: hand
// rule: QUANT-8
// arg0: f32[2,3] {{1, -0.75, 100}, {2, 0.25, -1}}
// out0: s8[2,3] {{5, 2, 127}, {8, 1, -4}}
// out1: f32[2,3] {{1, -0.5, 62}, {2, 0.25, -1}}
// The first row has scale 0.5 and zero point 3, the second 0.25 and 0: 1 / 0.5 + 3 = 5, -0.75 / 0.5 + 3 = 1.5, a tie.
func.func @main(%a: tensor<2x?xf32>) -> (tensor<2x?x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>, tensor<2x?xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x?xf32>) -> tensor<2x?x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x?x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>) -> tensor<2x?xf32>
  return %0, %1 : tensor<2x?x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>, tensor<2x?xf32>
}
