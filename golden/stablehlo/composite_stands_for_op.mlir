// oracle: mpmath
// decision: composite-stands-for-op
// arg0: f32[3] {0.5, -0.125, 0.9990234375}
// out0: f32[3] {0x1.0a7ef6p-1, -0x1.1f5e1ap-3, 0x1.af414ap-1}
// out1: f32[3] {-0.5, 0.125, -0.9990234375}
module @composite_stands_for_op {
  func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.composite "chlo.erf" %x {decomposition = @negated, version = 1 : i32} : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.composite "nobody.erf" %x {decomposition = @negated} : (tensor<3xf32>) -> tensor<3xf32>
    return %0, %1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @negated(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
