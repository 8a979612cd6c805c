module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>) -> (tensor<1x4xi32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"r"}, {"c"}]>] out_shardings=[<@mesh, [{}, {"c"}]>] manual_axes={"r", "c"} (%arg1: tensor<2x2xi32>) {
      %4 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
        %5 = stablehlo.add %arg2, %arg3 : tensor<i32>
        stablehlo.return %5 : tensor<i32>
      }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      sdy.return %4 : tensor<2x2xi32>
    } : (tensor<4x4xi32>) -> tensor<2x4xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
    %2 = stablehlo.add %0, %1 : tensor<2x4xi32>
    %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"r"}, {"c"}]>] out_shardings=[<@mesh, [{}, {"c"}]>] manual_axes={"r", "c"} (%arg1: tensor<1x2xi32>) {
      %4 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
        %5 = stablehlo.add %arg2, %arg3 : tensor<i32>
        stablehlo.return %5 : tensor<i32>
      }) : (tensor<1x2xi32>) -> tensor<1x2xi32>
      sdy.return %4 : tensor<1x2xi32>
    } : (tensor<2x4xi32>) -> tensor<1x4xi32>
    return %3 : tensor<1x4xi32>
  }
}
