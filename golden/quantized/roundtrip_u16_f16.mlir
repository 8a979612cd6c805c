// oracle: rational
// arg0: f16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: u16[19] {300, 300, 300, 302, 298, 304, 297, 310, 567, 33, 65535, 0, 65535, 0, 65535, 65535, 0, 0, 300}
// out1: f16[19] {0, 0, 0, 0x1.8p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.908p+7, -0x1.908p+7, 0x1.7e4p+15, -0x1.c2p+7, 0x1.7e4p+15, -0x1.c2p+7, 0x1.7e4p+15, 0x1.7e4p+15, -0x1.c2p+7, -0x1.c2p+7, 0}
func.func @main(%a: tensor<19xf16>) -> (tensor<19x!quant.uniform<ui16:f16, 0.75:300>>, tensor<19xf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf16>) -> tensor<19x!quant.uniform<ui16:f16, 0.75:300>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui16:f16, 0.75:300>>) -> tensor<19xf16>
  return %0, %1 : tensor<19x!quant.uniform<ui16:f16, 0.75:300>>, tensor<19xf16>
}
