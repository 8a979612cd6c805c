// oracle: rational
// rule: QUANT-15
// arg0: f64[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86ap+16, -0x1.86ap+16, 0x1.65a0bcp+31, -0x1.65a0bcp+31, 0x1.2ced32a16a1b1p+126, inf, -inf, nan, -0.0}
// out0: s32[19] {70001, 70002, 70000, 70002, 69999, 70005, 69998, 70011, 70268, 69734, 203334, -63332, 2147483647, -2147483648, 2147483647, 2147483647, -2147483648, 0, 70001}
// out1: f64[19] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.908p+7, -0x1.908p+7, 0x1.869fcp+16, -0x1.869fcp+16, 0x1.7ffccbaap+30, -0x1.80033453p+30, 0x1.7ffccbaap+30, 0x1.7ffccbaap+30, -0x1.80033453p+30, -0x1.9a298p+15, 0}
func.func @main(%a: tensor<19xf64>) -> (tensor<19x!quant.uniform<i32:f64, 0.75:70001>>, tensor<19xf64>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf64>) -> tensor<19x!quant.uniform<i32:f64, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i32:f64, 0.75:70001>>) -> tensor<19xf64>
  return %0, %1 : tensor<19x!quant.uniform<i32:f64, 0.75:70001>>, tensor<19xf64>
}
