module @jit_constrained attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xi32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}, %arg1: tensor<4x4xi32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> (tensor<4x4xi32> {jax.result_info = "result[0]", mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"}, tensor<4x4xi32> {jax.result_info = "result[1]", mhlo.sharding = "{devices=[2,2]<=[4]}"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xi32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %1, %arg0 : tensor<4x4xi32>, tensor<4x4xi32>
  }
}
