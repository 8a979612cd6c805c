// oracle: rational
// arg0: f32[] 0x1.0020c4p+0
// out0: s16[] 991
// out1: f32[] 0x1p+0
func.func @main(%a: tensor<f32>) -> (tensor<!quant.uniform<i16:f32, 0.001:-9>>, tensor<f32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<f32>) -> tensor<!quant.uniform<i16:f32, 0.001:-9>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<!quant.uniform<i16:f32, 0.001:-9>>) -> tensor<f32>
  return %0, %1 : tensor<!quant.uniform<i16:f32, 0.001:-9>>, tensor<f32>
}
