// oracle: rational
// arg0: f6e2m3fn[16] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0x1.ep+2, 0x1.ep+2, -0.0}
// out0: s32[16] {7, 7, 7, 7, 6, 7, 4, 7, 7, 0, 7, 0, 7, 0, 7, 7}
// out1: f6e2m3fn[16] {-0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2, -0x1.6p+2}
func.func @main(%a: tensor<16xf6E2M3FN>) -> (tensor<16x!quant.uniform<i32:f6E2M3FN, 0.75:70001>>, tensor<16xf6E2M3FN>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<16xf6E2M3FN>) -> tensor<16x!quant.uniform<i32:f6E2M3FN, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<16x!quant.uniform<i32:f6E2M3FN, 0.75:70001>>) -> tensor<16xf6E2M3FN>
  return %0, %1 : tensor<16x!quant.uniform<i32:f6E2M3FN, 0.75:70001>>, tensor<16xf6E2M3FN>
}
