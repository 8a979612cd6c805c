// oracle: rational
// arg0: f8e4m3b11fnuz[16] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, nan, nan, nan, nan, nan, nan, nan, nan}
// out0: u16[16] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
// out1: f8e4m3b11fnuz[16] {nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan}
func.func @main(%a: tensor<16xf8E4M3B11FNUZ>) -> (tensor<16x!quant.uniform<ui16:f8E4M3B11FNUZ, 0.75:300>>, tensor<16xf8E4M3B11FNUZ>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<16xf8E4M3B11FNUZ>) -> tensor<16x!quant.uniform<ui16:f8E4M3B11FNUZ, 0.75:300>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<16x!quant.uniform<ui16:f8E4M3B11FNUZ, 0.75:300>>) -> tensor<16xf8E4M3B11FNUZ>
  return %0, %1 : tensor<16x!quant.uniform<ui16:f8E4M3B11FNUZ, 0.75:300>>, tensor<16xf8E4M3B11FNUZ>
}
