// oracle: rational
// rule: QUANT-11
// decision: quantized-arithmetic
// arg0: s8[3] {100, -128, 4}
// out0: s8[3] {100, -128, 4}
// out1: f32[3] {0x1.9p+5, -0x1p+6, 0x1p+1}
// out2: s8[3] {10, -10, 4}
func.func @main(%a: tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>) -> (tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>, tensor<3xf32>, tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>) {
  %0 = stablehlo.constant dense<[100, -128, 4]> : tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>
  %1 = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>) -> tensor<3xf32>
  %2 = stablehlo.uniform_quantize %0 : tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>
  return %0, %1, %2 : tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>, tensor<3xf32>, tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:0>>
}
