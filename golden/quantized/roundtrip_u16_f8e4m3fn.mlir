// oracle: rational
// arg0: f8e4m3fn[17] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.8p+7, -0x1.8p+7, nan, nan, nan, nan, nan, nan, -0.0}
// out0: u16[17] {288, 288, 288, 288, 288, 288, 288, 288, 0, 32, 0, 0, 0, 0, 0, 0, 288}
// out1: f8e4m3fn[17] {-0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.2p+3, -0x1.cp+7, -0x1.8p+7, -0x1.cp+7, -0x1.cp+7, -0x1.cp+7, -0x1.cp+7, -0x1.cp+7, -0x1.cp+7, -0x1.2p+3}
func.func @main(%a: tensor<17xf8E4M3FN>) -> (tensor<17x!quant.uniform<ui16:f8E4M3FN, 0.75:300>>, tensor<17xf8E4M3FN>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<17xf8E4M3FN>) -> tensor<17x!quant.uniform<ui16:f8E4M3FN, 0.75:300>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<17x!quant.uniform<ui16:f8E4M3FN, 0.75:300>>) -> tensor<17xf8E4M3FN>
  return %0, %1 : tensor<17x!quant.uniform<ui16:f8E4M3FN, 0.75:300>>, tensor<17xf8E4M3FN>
}
