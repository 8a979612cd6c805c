// refuse: 5 memory
// decision: splat-constants
// options: --memory-limit 4096
// The value of 10^12 elements is asked for: the limit on values applies.
module @splat_constants_limit {
  func.func public @main() -> tensor<1000000000000xi32> {
    %c = stablehlo.constant dense<7> : tensor<1000000000000xi32>
    return %c : tensor<1000000000000xi32>
  }
}
