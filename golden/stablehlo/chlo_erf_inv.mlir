// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[3] {0.5, -0.125, 0.9990234375}
// out0: f32[3] {0x1.e861fcp-2, -0x1.c79ed4p-4, 0x1.2a6d8ap+1}
module @chlo_erf_inv {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = chlo.erf_inv %x : tensor<3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
