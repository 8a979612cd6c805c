// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[3] {0.5, 4.25, 30.0}
// out0: f32[3] {0x1.eb0214p-2, 0x1.fcae94p-30, 0}
// out1: f32[3] {0x1.250d04p-1, 0x1.0ea686p+1, 0x1.1d0736p+6}
// out2: f32[3] {-0x1.f6a898p+0, 0x1.531e7p+0, 0x1.b13544p+1}
module @chlo_functions {
  func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = chlo.erfc %x : tensor<3xf32> -> tensor<3xf32>
    %1 = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>
    %2 = chlo.digamma %x : tensor<3xf32> -> tensor<3xf32>
    return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
