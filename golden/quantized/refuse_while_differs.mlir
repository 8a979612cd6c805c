// refuse: 3 QUANT-10: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.while(%x = %a) : tensor<2x!quant.uniform<i8:f32, 0.5:3>> cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.uniform_quantize %x : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
    stablehlo.return %y : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  }
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
