module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xi32>, %arg1: tensor<4x4xi32>) -> (tensor<2x4xi32> {jax.result_info = "result[0]"}, tensor<4x4xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[2,2]<=[4]}"} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<4x4xi32>) -> tensor<2x2xi32>
    %2 = stablehlo.custom_call @Sharding(%arg1) {backend_config = "", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<4x4xi32>) -> tensor<2x4xi32>
    %4:2 = call @shmap_body(%1, %3) : (tensor<2x2xi32>, tensor<2x4xi32>) -> (tensor<2x2xi32>, tensor<2x4xi32>)
    %5 = stablehlo.custom_call @Sharding(%4#0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %6 = stablehlo.custom_call @SPMDShardToFullShape(%5) {backend_config = "", mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : (tensor<2x2xi32>) -> tensor<2x4xi32>
    %7 = stablehlo.custom_call @Sharding(%4#1) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x4xi32>) -> tensor<2x4xi32>
    %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {backend_config = "", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<2x4xi32>) -> tensor<4x4xi32>
    return %6, %8 : tensor<2x4xi32>, tensor<4x4xi32>
  }
  func.func private @shmap_body(%arg0: tensor<2x2xi32>, %arg1: tensor<2x4xi32>) -> (tensor<2x2xi32> {jax.result_info = "[None, ('c',)]"}, tensor<2x4xi32> {jax.result_info = "[('r',), None]"}) {
    %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      %7 = stablehlo.add %arg2, %arg3 : tensor<i32>
      stablehlo.return %7 : tensor<i32>
    }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %c = stablehlo.constant dense<2> : tensor<ui32>
    %c_0 = stablehlo.constant dense<2> : tensor<ui32>
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.divide %1, %c : tensor<ui32>
    %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
    %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
    %6 = stablehlo.multiply %arg1, %5 : tensor<2x4xi32>
    return %0, %6 : tensor<2x2xi32>, tensor<2x4xi32>
  }
}
