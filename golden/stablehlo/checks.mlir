// oracle: hand
// decision: checks
// arg0: f32[3] {-0.0, 1, 2}
// out0: f32[3] {-0.0, 1, 2}
// out1: pred[] true
// -0 is equal to 0; 1 + 2^-23 is the value after 1, 1 + 2^-22 the second after.
module @checks {
  func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<i1>) {
    %y = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
    %z = stablehlo.constant dense<[0.0, 1.00000011920928955, 2.0]> : tensor<3xf32>
    %w = stablehlo.constant dense<[0.0, 1.0000002384185791, 2.0]> : tensor<3xf32>
    %v = stablehlo.constant dense<[-0.0, 1.00009, 2.0]> : tensor<3xf32>
    %n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %m = stablehlo.constant dense<0x7F800001> : tensor<f32>
    check.expect_eq %x, %y : tensor<3xf32>
    check.expect_almost_eq %x, %v : tensor<3xf32>
    check.expect_almost_eq %n, %m : tensor<f32>
    check.expect_close %x, %z : tensor<3xf32>, tensor<3xf32>
    check.expect_close %x, %w, max_ulp_difference = 2 : tensor<3xf32>, tensor<3xf32>
    check.expect_close %n, %m : tensor<f32>, tensor<f32>
    %e = stablehlo.custom_call @check.eq(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<i1>
    return %x, %e : tensor<3xf32>, tensor<i1>
  }
}
