// oracle: rational
// arg0: f64[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86ap+16, -0x1.86ap+16, 0x1.65a0bcp+31, -0x1.65a0bcp+31, 0x1.2ced32a16a1b1p+126, inf, -inf, nan, -0.0}
// out0: s2[19] {1, 1, 0, 1, -1, 1, -2, 1, 1, -2, 1, -2, 1, -2, 1, 1, -2, 0, 1}
// out1: f64[19] {0, 0, -0x1.8p-1, 0, -0x1.8p+0, 0, -0x1.2p+1, 0, 0, -0x1.2p+1, 0, -0x1.2p+1, 0, -0x1.2p+1, 0, 0, -0x1.2p+1, -0x1.8p-1, 0}
func.func @main(%a: tensor<19xf64>) -> (tensor<19x!quant.uniform<i2:f64, 0.75:1>>, tensor<19xf64>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf64>) -> tensor<19x!quant.uniform<i2:f64, 0.75:1>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i2:f64, 0.75:1>>) -> tensor<19xf64>
  return %0, %1 : tensor<19x!quant.uniform<i2:f64, 0.75:1>>, tensor<19xf64>
}
