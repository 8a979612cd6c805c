// oracle: hand
// decision: splat-constants
// options: --memory-limit 4096
// out0: s32[2] {7, 7}
// The second constant would take 4 x 10^12 bytes, and nothing needs its value.
module @splat_constants {
  func.func public @main() -> tensor<2xi32> {
    %c = stablehlo.constant dense<7> : tensor<2xi32>
    %d = stablehlo.constant dense<7> : tensor<1000000000000xi32>
    return %c : tensor<2xi32>
  }
}
