// refuse: 3 QUANT-26: 
func.func @main(%a: tensor<2x2xf16>, %b: tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> (tensor<2x2xf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2xf16>, tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}
