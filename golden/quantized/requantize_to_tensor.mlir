// oracle: rational
// arg0: s8[2,2] {{12, 10}, {-4, 100}}
// out0: s8[2,2] {{5, 1}, {1, 53}}
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.25:1>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:1>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.25:1>>
}
