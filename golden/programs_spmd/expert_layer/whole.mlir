module @jit_expert_layer attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["expert"=8]> {stablehlo.mesh = {axes = [{name = "expert", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>}, %arg1: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"expert"}, {}]>, <@mesh, [{"expert"}, {}, {}]>] out_shardings=[<@mesh, [{"expert"}, {}]>] manual_axes={"expert"} (%arg2: tensor<8x8xf32>, %arg3: tensor<1x8x8xf32>) {
      %1 = stablehlo.reshape %arg2 : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
      %2 = "stablehlo.all_to_all"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x1x8xf32>) -> tensor<8x1x8xf32>
      %3 = stablehlo.reshape %arg3 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %4 = stablehlo.dot_general %2, %3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1x8xf32>, tensor<8x8xf32>) -> tensor<8x1x8xf32>
      %5 = func.call @relu(%4) : (tensor<8x1x8xf32>) -> tensor<8x1x8xf32>
      %6 = "stablehlo.all_to_all"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x1x8xf32>) -> tensor<8x1x8xf32>
      %7 = stablehlo.reshape %6 : (tensor<8x1x8xf32>) -> tensor<8x8xf32>
      %8 = stablehlo.add %7, %arg2 : tensor<8x8xf32>
      sdy.return %8 : tensor<8x8xf32>
    } : (tensor<64x8xf32>, tensor<8x8x8xf32>) -> tensor<64x8xf32>
    return %0 : tensor<64x8xf32>
  }
  func.func private @relu(%arg0: tensor<8x1x8xf32>) -> tensor<8x1x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x1x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x1x8xf32>
    return %1 : tensor<8x1x8xf32>
  }
}
