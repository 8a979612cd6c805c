// oracle: rational
// arg0: bf16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86p+16, -0x1.86p+16, 0x1.66p+31, -0x1.66p+31, 0x1.2cp+126, inf, -inf, nan, -0.0}
// out0: u16[19] {300, 300, 300, 302, 298, 304, 296, 310, 568, 34, 65535, 0, 65535, 0, 65535, 65535, 0, 0, 300}
// out1: bf16[19] {0, 0, 0, 0x1.8p+0, -0x1.8p+0, 0x1.8p+1, -0x1.8p+1, 0x1.ep+2, 0x1.92p+7, -0x1.9p+7, 0x1.7ep+15, -0x1.c2p+7, 0x1.7ep+15, -0x1.c2p+7, 0x1.7ep+15, 0x1.7ep+15, -0x1.c2p+7, -0x1.c2p+7, 0}
func.func @main(%a: tensor<19xbf16>) -> (tensor<19x!quant.uniform<ui16:bf16, 0.75:300>>, tensor<19xbf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xbf16>) -> tensor<19x!quant.uniform<ui16:bf16, 0.75:300>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui16:bf16, 0.75:300>>) -> tensor<19xbf16>
  return %0, %1 : tensor<19x!quant.uniform<ui16:bf16, 0.75:300>>, tensor<19xbf16>
}
