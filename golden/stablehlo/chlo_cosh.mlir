// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[3] {0.375, 1.25, -2.75}
// out0: f32[3] {0x1.12364p+0, 0x1.e36fcp+0, 0x1.f69c24p+2}
// (e^(x - log 2) + e^(-x - log 2)), rounded at every step, is another number for each of them.
module @chlo_cosh {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = chlo.cosh %x : tensor<3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
