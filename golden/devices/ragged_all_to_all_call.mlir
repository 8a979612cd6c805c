// oracle: hand
// rule: SDY-22
// arg0: s32[6] {1, 2, 3, 4, 5, 6}
// out0: s32[8] {1, 4, 0, 0, 2, 3, 5, 0}
// SDY-22: JAX's lax.ragged_all_to_all. Device 0 sends its row 0 to device 0 and rows 1 and 2 to device 1, device 1 its row 0 to device 0
// and row 1 to device 1. What comes from device 1 begins at 1 on device 0, at 2 on device 1.
module @ragged attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%arg0: tensor<6xi32>) -> tensor<8xi32> {
    %output = stablehlo.constant dense<0> : tensor<8xi32>
    %starts = stablehlo.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
    %sizes = stablehlo.constant dense<[1, 2, 1, 1]> : tensor<4xi32>
    %places = stablehlo.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
    %taken = stablehlo.constant dense<[1, 1, 2, 1]> : tensor<4xi32>
    %0 = sdy.manual_computation(%arg0, %output, %starts, %sizes, %places, %taken) in_shardings=[<@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%a: tensor<3xi32>, %b: tensor<4xi32>, %c: tensor<2xi32>, %d: tensor<2xi32>, %e: tensor<2xi32>, %f: tensor<2xi32>) {
      %1 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %c, %d, %e, %f) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<3xi32>, tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
      sdy.return %1 : tensor<4xi32>
    } : (tensor<6xi32>, tensor<8xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32>
    return %0 : tensor<8xi32>
  }
}
