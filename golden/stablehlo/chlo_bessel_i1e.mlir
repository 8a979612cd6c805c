// refuse: 4 chlo.bessel_i1e
// decision: chlo-expansion
module @chlo_bessel_i1e {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = chlo.bessel_i1e %x : tensor<f32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}
