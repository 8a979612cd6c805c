// oracle: spec
// rule: QUANT-16, QUANT-17
// arg0: f32[7] {0x1.4p-1, 0x1.cp-1, -0x1p-3, 0x1.4p+5, -0x1.08p+5, nan, inf}
// out0: s8[7] {0, 0, -4, 127, -128, 0, 127}
// out1: f32[7] {0x1.8p-1, 0x1.8p-1, -0x1p-2, 0x1.04p+5, -0x1.f4p+4, 0x1.8p-1, 0x1.04p+5}
func.func @main(%a: tensor<7xf32>) -> (tensor<7x!quant.uniform<i8:f32, 0.25:-3>>, tensor<7xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<7xf32>) -> tensor<7x!quant.uniform<i8:f32, 0.25:-3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<7x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<7xf32>
  return %0, %1 : tensor<7x!quant.uniform<i8:f32, 0.25:-3>>, tensor<7xf32>
}
