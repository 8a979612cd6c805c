// oracle: spec
// rule: QUANT-5
// arg0: f32[1] {0x1.666666p-2}
// out0: s8[1] {4}
// out1: f32[1] {0x1.99999ap-2}
func.func @main(%a: tensor<1xf32>) -> (tensor<1x!quant.uniform<i8:f32, 0.1:0>>, tensor<1xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<1xf32>) -> tensor<1x!quant.uniform<i8:f32, 0.1:0>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<1x!quant.uniform<i8:f32, 0.1:0>>) -> tensor<1xf32>
  return %0, %1 : tensor<1x!quant.uniform<i8:f32, 0.1:0>>, tensor<1xf32>
}
