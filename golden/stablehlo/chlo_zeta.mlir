// refuse: 4 chlo.zeta
// decision: chlo-expansion
module @chlo_zeta {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = chlo.zeta %x, %x : tensor<f32>, tensor<f32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}
