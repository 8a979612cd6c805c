module @jit_cast attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.log %arg0 : tensor<4xf32>
    %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>
    return %1 : tensor<4xi32>
  }
}
