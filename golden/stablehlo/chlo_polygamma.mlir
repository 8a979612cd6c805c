// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[2,1] {{0}, {2}}
// arg1: f32[3] {0.5, -0.5, 7}
// out0: f32[2,3] {{-0x1.f6a898p+0, 0x1.2aed06p-5, 0x1.df6eccp+0}, {-0x1.0d42cp+4, -0x1.a85808p-1, -0x1.8185f4p-6}}
// out1: f32[3] {-0x1.0d42cp+4, -0x1.a85808p-1, -0x1.8185f4p-6}
module @chlo_polygamma {
  func.func public @main(%n: tensor<2x1xf32>, %x: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
    %0 = chlo.broadcast_polygamma %n, %x : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %two = stablehlo.constant dense<2.0> : tensor<3xf32>
    %1 = chlo.polygamma %two, %x : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<3xf32>
  }
}
