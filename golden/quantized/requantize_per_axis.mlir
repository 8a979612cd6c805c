// oracle: spec
// arg0: s8[2,3] {{12, 10, -20}, {-4, 0, 127}}
// out0: s8[2,3] {{4, 0, -60}, {7, 9, 72}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> (tensor<2x3x!quant.uniform<i8:f32:0, {0.25:0, 0.25:7}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.25:0, 0.25:7}>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32:0, {0.25:0, 0.25:7}>>
}
