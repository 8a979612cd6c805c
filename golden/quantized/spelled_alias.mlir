// oracle: hand
// rule: QUANT-10
// arg0: s8[2] {3, -7}
// out0: s8[2] {3, -7}
!q = !quant.uniform<i8:f32, 0.5>
!t = tensor<2x!q>
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:0>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:0>>) {
  %0 = stablehlo.reverse %a, dims = [] : tensor<2x!q>
  return %0 : !t
}
