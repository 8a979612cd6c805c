// oracle: rational
// arg0: f32[2,3] {{0x1p+0, 0x1p+1, 0x1.8p+1}, {-0x1p-1, 0x1.4p-2, 0x1.dcd65p+29}}
// out0: s8[2,3] {{12, 12, 1}, {9, -2, 127}}
// out1: f32[2,3] {{0x1p+0, 0x1p+1, 0x1.8p+1}, {-0x1p-1, 0x1p-2, 0x1.7dp+8}}
func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3x!quant.uniform<i8:f32:1, {0.5:10, 0.125:-4, 3.0:0}>>, tensor<2x3xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:10, 0.125:-4, 3.0:0}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5:10, 0.125:-4, 3.0:0}>>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:10, 0.125:-4, 3.0:0}>>, tensor<2x3xf32>
}
