// oracle: rational
// out0: s4[1,2] {{7, -8}}
// out1: f32[1,2] {{0x1.8p+1, -0x1.cp+3}}
func.func @main() -> (tensor<1x2x!quant.uniform<i4:f32:1, {0.5:1, 2.0:-1}>>, tensor<1x2xf32>) {
  %0 = stablehlo.constant dense<[[7, -8]]> : tensor<1x2x!quant.uniform<i4:f32:1, {0.5:1, 2.0:-1}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<1x2x!quant.uniform<i4:f32:1, {0.5:1, 2.0:-1}>>) -> tensor<1x2xf32>
  return %0, %1 : tensor<1x2x!quant.uniform<i4:f32:1, {0.5:1, 2.0:-1}>>, tensor<1x2xf32>
}
