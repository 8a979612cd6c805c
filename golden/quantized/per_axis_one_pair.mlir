// oracle: rational
// rule: QUANT-7
// arg0: f32[1,3] {{0x1p-2, 0x1.666666p-2, 0x1.ep+4}}
// out0: u8[1,3] {{10, 10, 255}}
// out1: f32[1,3] {{0x1.333334p-2, 0x1.333334p-2, 0x1.8ccccep+4}}
func.func @main(%a: tensor<1x3xf32>) -> (tensor<1x3x!quant.uniform<ui8:f32:0, {0.1:7}>>, tensor<1x3xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<1x3xf32>) -> tensor<1x3x!quant.uniform<ui8:f32:0, {0.1:7}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<1x3x!quant.uniform<ui8:f32:0, {0.1:7}>>) -> tensor<1x3xf32>
  return %0, %1 : tensor<1x3x!quant.uniform<ui8:f32:0, {0.1:7}>>, tensor<1x3xf32>
}
