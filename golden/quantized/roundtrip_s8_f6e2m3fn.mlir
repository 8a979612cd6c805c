// oracle: rational
// rule: QUANT-16
// arg0: f6e2m3fn[16] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0.0}
// out0: s8[16] {5, 6, 4, 6, 3, 7, 2, 7, 7, -2, 7, -2, 7, -2, 7, 5}
// out1: f6e2m3fn[16] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1.8p+0, -0x1.2p+1, 0x1.8p+0, 0x1.8p+0, -0x1.4p+2, 0x1.8p+0, -0x1.4p+2, 0x1.8p+0, -0x1.4p+2, 0x1.8p+0, 0}
func.func @main(%a: tensor<16xf6E2M3FN>) -> (tensor<16x!quant.uniform<i8:f6E2M3FN, 0.75:5>>, tensor<16xf6E2M3FN>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<16xf6E2M3FN>) -> tensor<16x!quant.uniform<i8:f6E2M3FN, 0.75:5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<16x!quant.uniform<i8:f6E2M3FN, 0.75:5>>) -> tensor<16xf6E2M3FN>
  return %0, %1 : tensor<16x!quant.uniform<i8:f6E2M3FN, 0.75:5>>, tensor<16xf6E2M3FN>
}
