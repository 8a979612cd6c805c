// refuse: 3 QUANT-25: 
func.func @main(%a: tensor<2x2x!quant.uniform<u8:f32, 0.5:3>>, %b: tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<u8:f32, 0.5:3>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>
}
