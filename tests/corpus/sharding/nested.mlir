module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "r", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x4xi32>) -> (tensor<2x2xi32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"r", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"r"} (%arg1: tensor<2x4xi32>) {
      %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{?}, {"c", ?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"c"} (%arg2: tensor<2x2xi32>) {
        %7 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
          %8 = stablehlo.add %arg3, %arg4 : tensor<i32>
          stablehlo.return %8 : tensor<i32>
        }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
        sdy.return %7 : tensor<2x2xi32>
      } : (tensor<2x4xi32>) -> tensor<2x2xi32>
      %c = stablehlo.constant dense<2> : tensor<i32>
      %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
      %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<2x2xi32>
      %4 = stablehlo.multiply %1, %3 : tensor<2x2xi32>
      %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}]> : tensor<2x2xi32>
      %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
        %7 = stablehlo.add %arg2, %arg3 : tensor<i32>
        %8 = sdy.sharding_constraint %7 <@mesh, []> : tensor<i32>
        stablehlo.return %8 : tensor<i32>
      }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      sdy.return %6 : tensor<2x2xi32>
    } : (tensor<4x4xi32>) -> tensor<2x2xi32>
    return %0 : tensor<2x2xi32>
  }
}
