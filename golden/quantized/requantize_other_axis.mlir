// oracle: rational
// arg0: s8[2,3] {{12, 10, -20}, {-4, 0, 127}}
// out0: s16[2,3] {{101, 2, -2}, {1, 3, 8}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> (tensor<2x3x!quant.uniform<i16:f32:1, {0.01:1, 0.5:2, 3.0:3}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> tensor<2x3x!quant.uniform<i16:f32:1, {0.01:1, 0.5:2, 3.0:3}>>
  return %0 : tensor<2x3x!quant.uniform<i16:f32:1, {0.01:1, 0.5:2, 3.0:3}>>
}
