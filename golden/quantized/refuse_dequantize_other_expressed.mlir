// refuse: 3 QUANT-20: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2xf16>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf16>
  return %0 : tensor<2xf16>
}
