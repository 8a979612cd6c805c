// oracle: rational
// arg0: f4e2m1fn[16] {0, 0x1p-1, -0x1p-1, 0x1p+0, -0x1.8p+0, 0x1.8p+1, -0x1p+1, 0x1.8p+2, 0x1.8p+2, -0x1.8p+2, 0x1.8p+2, -0x1.8p+2, 0x1.8p+2, -0x1.8p+2, 0x1.8p+2, -0.0}
// out0: s4[16] {3, 4, 2, 4, 2, 6, 1, 6, 6, -3, 6, -3, 6, -3, 6, 3}
// out1: f4e2m1fn[16] {0, 0x1p+0, -0x1p+0, 0x1p+0, -0x1p+0, 0x1.8p+1, -0x1p+1, 0x1.8p+1, 0x1.8p+1, -0x1.8p+2, 0x1.8p+1, -0x1.8p+2, 0x1.8p+1, -0x1.8p+2, 0x1.8p+1, 0}
func.func @main(%a: tensor<16xf4E2M1FN>) -> (tensor<16x!quant.uniform<i4:f4E2M1FN, 1.0:3>>, tensor<16xf4E2M1FN>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<16xf4E2M1FN>) -> tensor<16x!quant.uniform<i4:f4E2M1FN, 1.0:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<16x!quant.uniform<i4:f4E2M1FN, 1.0:3>>) -> tensor<16xf4E2M1FN>
  return %0, %1 : tensor<16x!quant.uniform<i4:f4E2M1FN, 1.0:3>>, tensor<16xf4E2M1FN>
}
