// refuse: 5 QUANT-8: found 2 scales for dimension 0 of size 3 (refined for arg0 s8[3])
// arg0: s8[3] {1, 2, 3}
func.func @main(%a: tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.transpose %a, dims = [0] : (tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}
