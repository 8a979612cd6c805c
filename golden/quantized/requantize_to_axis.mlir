// oracle: rational
// arg0: s8[2,2] {{12, 10}, {-4, 100}}
// out0: s8[2,2] {{16, 14}, {-14, 127}}
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.25:1>>) -> (tensor<2x2x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x2x!quant.uniform<i8:f32, 0.25:1>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32:0, {0.5:10, 0.125:-4}>>
}
