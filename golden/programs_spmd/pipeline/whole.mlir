module @jit_pipeline attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["stage"=4]> {stablehlo.mesh = {axes = [{name = "stage", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<6x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg1: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"stage"}, {}, {}]>}) -> (tensor<6x2x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{"stage"}, {}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"stage"} (%arg2: tensor<6x2x8xf32>, %arg3: tensor<1x8x8xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x2x8xf32>
      %6 = stablehlo.slice %5 [0:1, 0:2, 0:8] : (tensor<6x2x8xf32>) -> tensor<1x2x8xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %8:7 = stablehlo.while(%iterArg = %4, %iterArg_3 = %arg2, %iterArg_4 = %arg3, %iterArg_5 = %c_2, %iterArg_6 = %c_1, %iterArg_7 = %7, %iterArg_8 = %5) : tensor<i32>, tensor<6x2x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>
      cond {
        %c_9 = stablehlo.constant dense<9> : tensor<i32>
        %10 = stablehlo.compare LT, %iterArg_5, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %10 : tensor<i1>
      } do {
        %10:3 = func.call @closed_call(%iterArg, %iterArg_3, %iterArg_4, %iterArg_6, %iterArg_7, %iterArg_8) : (tensor<i32>, tensor<6x2x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>) -> (tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>)
        %c_9 = stablehlo.constant dense<1> : tensor<i32>
        %11 = stablehlo.add %iterArg_5, %c_9 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %11, %10#0, %10#1, %10#2 : tensor<i32>, tensor<6x2x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>
      }
      %9 = "stablehlo.all_reduce"(%8#6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }) : (tensor<6x2x8xf32>) -> tensor<6x2x8xf32>
      sdy.return %9 : tensor<6x2x8xf32>
    } : (tensor<6x2x8xf32>, tensor<4x8x8xf32>) -> tensor<6x2x8xf32>
    return %0 : tensor<6x2x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<6x2x8xf32>, %arg2: tensor<1x8x8xf32>, %arg3: tensor<i32>, %arg4: tensor<2x8xf32>, %arg5: tensor<6x2x8xf32>) -> (tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg3, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %arg0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.minimum %arg3, %c_1 : tensor<i32>
    %3 = call @dynamic_index_in_dim(%arg1, %2) : (tensor<6x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
    %4 = call @_where(%1, %3, %arg4) : (tensor<i1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %5 = stablehlo.reshape %arg2 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.tanh %6 : tensor<2x8xf32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %8 = stablehlo.subtract %arg3, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<5> : tensor<i32>
    %9 = call @clip(%8, %c_3, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %10 = stablehlo.compare EQ, %arg0, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<3> : tensor<i32>
    %11 = stablehlo.compare GE, %arg3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<false> : tensor<i1>
    %12 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<i1>
    %13 = stablehlo.compare NE, %11, %12, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %14 = stablehlo.convert %13 : tensor<i1>
    %15 = stablehlo.and %10, %14 : tensor<i1>
    %16 = call @dynamic_index_in_dim_0(%arg5, %9) : (tensor<6x2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
    %17 = call @_where_1(%15, %7, %16) : (tensor<i1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %18 = call @dynamic_update_index_in_dim(%arg5, %17, %9) : (tensor<6x2x8xf32>, tensor<2x8xf32>, tensor<i32>) -> tensor<6x2x8xf32>
    %19 = "stablehlo.collective_permute"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %0, %19, %18 : tensor<i32>, tensor<2x8xf32>, tensor<6x2x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x2x8xf32>, %arg1: tensor<i32>) -> tensor<2x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.add %1, %c_0 : tensor<i32>
    %3 = stablehlo.select %0, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %3, %c_1, %c_2, sizes = [1, 2, 8] : (tensor<6x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    return %5 : tensor<2x8xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x8xf32>, %arg2: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @clip(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.maximum %arg1, %arg0 : tensor<i32>
    %1 = stablehlo.minimum %arg2, %0 : tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<6x2x8xf32>, %arg1: tensor<i32>) -> tensor<2x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.add %1, %c_0 : tensor<i32>
    %3 = stablehlo.select %0, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %3, %c_1, %c_2, sizes = [1, 2, 8] : (tensor<6x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    return %5 : tensor<2x8xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<2x8xf32>, %arg2: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x2x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i32>) -> tensor<6x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %arg2 : tensor<i32>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.add %2, %c_0 : tensor<i32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg0, %0, %4, %c_1, %c_2 : (tensor<6x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x8xf32>
    return %5 : tensor<6x2x8xf32>
  }
}
