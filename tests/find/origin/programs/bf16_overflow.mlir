module @jit_bf16_difference attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
    %1 = stablehlo.subtract %0, %0 : tensor<4xbf16>
    return %1 : tensor<4xbf16>
  }
}
