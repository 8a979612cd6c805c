// oracle: rational
// arg0: bf16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86p+16, -0x1.86p+16, 0x1.66p+31, -0x1.66p+31, 0x1.2cp+126, inf, -inf, nan, -0.0}
// out0: u8[19] {5, 6, 4, 6, 3, 9, 2, 15, 255, 0, 255, 0, 255, 0, 255, 255, 0, 0, 5}
// out1: bf16[19] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.78p+7, -0x1.ep+1, 0x1.78p+7, -0x1.ep+1, 0x1.78p+7, -0x1.ep+1, 0x1.78p+7, 0x1.78p+7, -0x1.ep+1, -0x1.ep+1, 0}
func.func @main(%a: tensor<19xbf16>) -> (tensor<19x!quant.uniform<ui8:bf16, 0.75:5>>, tensor<19xbf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xbf16>) -> tensor<19x!quant.uniform<ui8:bf16, 0.75:5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui8:bf16, 0.75:5>>) -> tensor<19xbf16>
  return %0, %1 : tensor<19x!quant.uniform<ui8:bf16, 0.75:5>>, tensor<19xbf16>
}
