// refuse: 4 chlo.polygamma
// decision: chlo-expansion
module @chlo_polygamma {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = chlo.polygamma %x, %x : tensor<f32>, tensor<f32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}
