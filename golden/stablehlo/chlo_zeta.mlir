// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[2,1] {{2}, {3}}
// arg1: f32[3] {0.5, -0.5, 7}
// out0: f32[2,3] {{0x1.3bd3ccp+2, 0x1.1de9e6p+3, 0x1.3a75e4p-3}, {0x1.0d42cp+3, 0x1.a85808p-2, 0x1.8185f4p-7}}
// out1: f32[3] {0x1.3bd3ccp+2, 0x1.1de9e6p+3, 0x1.3a75e4p-3}
module @chlo_zeta {
  func.func public @main(%s: tensor<2x1xf32>, %q: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
    %0 = chlo.broadcast_zeta %s, %q : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %two = stablehlo.constant dense<2.0> : tensor<3xf32>
    %1 = chlo.zeta %two, %q : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<3xf32>
  }
}
