// oracle: hand
// rule: QUANT-2
// arg0: u8[2] {3, 200}
// out0: u8[2] {3, 200}
func.func @main(%a: tensor<2x!quant.uniform<ui8:f32, 0.5:0>>) -> (tensor<2x!quant.uniform<ui8:f32, 0.5:0>>) {
  %0 = stablehlo.reverse %a, dims = [] : (tensor<2x!quant.uniform<ui8:f32, 0.5>>) -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<u8<0:255>:f32, 0.5>>
}
