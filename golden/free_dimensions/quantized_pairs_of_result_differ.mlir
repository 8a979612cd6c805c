// refuse: 5 QUANT-8: found 2 scales for dimension 0 of size 3
// arg0: f32[3] {1, 2, 3}
func.func @main(%a: tensor<?xf32>) -> tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.uniform_quantize %a : (tensor<?xf32>) -> tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<?x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}
