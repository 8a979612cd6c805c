// oracle: rational
// rule: QUANT-15
// arg0: f32[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86ap+16, -0x1.86ap+16, 0x1.65a0bcp+31, -0x1.65a0bcp+31, 0x1.2ced32p+126, inf, -inf, nan, -0.0}
// out0: u32[19] {70001, 70002, 70000, 70002, 69999, 70005, 69998, 70011, 70268, 69734, 203334, 0, 4000069888, 0, 4294967295, 4294967295, 0, 0, 70001}
// out1: f32[19] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.908p+7, -0x1.908p+7, 0x1.869fcp+16, -0x1.9a298p+15, 0x1.65a0bcp+31, -0x1.9a298p+15, 0x1.7ffe66p+31, 0x1.7ffe66p+31, -0x1.9a298p+15, -0x1.9a298p+15, 0}
func.func @main(%a: tensor<19xf32>) -> (tensor<19x!quant.uniform<ui32:f32, 0.75:70001>>, tensor<19xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf32>) -> tensor<19x!quant.uniform<ui32:f32, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui32:f32, 0.75:70001>>) -> tensor<19xf32>
  return %0, %1 : tensor<19x!quant.uniform<ui32:f32, 0.75:70001>>, tensor<19xf32>
}
