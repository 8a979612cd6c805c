// oracle: rational
// arg0: s4[16] {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}
// out0: bf16[16] {-0x1.cep+0, -0x1.8p+0, -0x1.34p+0, -0x1.cep-1, -0x1.34p-1, -0x1.34p-2, 0, 0x1.34p-2, 0x1.34p-1, 0x1.cep-1, 0x1.34p+0, 0x1.8p+0, 0x1.cep+0, 0x1.0ep+1, 0x1.34p+1, 0x1.5ap+1}
// out1: s4[16] {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}
func.func @main(%a: tensor<16x!quant.uniform<i4:bf16, 0.3:-2>>) -> (tensor<16xbf16>, tensor<16x!quant.uniform<i4:bf16, 0.3:-2>>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<16x!quant.uniform<i4:bf16, 0.3:-2>>) -> tensor<16xbf16>
  %1 = stablehlo.uniform_quantize %0 : (tensor<16xbf16>) -> tensor<16x!quant.uniform<i4:bf16, 0.3:-2>>
  return %0, %1 : tensor<16xbf16>, tensor<16x!quant.uniform<i4:bf16, 0.3:-2>>
}
