// refuse: 3 CustomCall: chlo.zeta of f32[2] can't give f32[3]
func.func @main(%s: tensor<2xf32>, %q: tensor<3xf32>) -> tensor<3xf32> {
  %0 = chlo.zeta %s, %q : tensor<2xf32>, tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
