// oracle: rational
// arg0: f32[0,2] {}
// out0: s8[0,2] {}
// out1: f32[0,2] {}
func.func @main(%a: tensor<0x2xf32>) -> (tensor<0x2x!quant.uniform<i8:f32, 0.5:0>>, tensor<0x2xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<0x2xf32>) -> tensor<0x2x!quant.uniform<i8:f32, 0.5:0>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<0x2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<0x2xf32>
  return %0, %1 : tensor<0x2x!quant.uniform<i8:f32, 0.5:0>>, tensor<0x2xf32>
}
