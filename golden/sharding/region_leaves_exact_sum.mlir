// oracle: hand
// rule: SDY-17
// arg0: f32[4] {1e8, 1, -1e8, 1}
// out0: f32[1] {2}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @ring = <["i"=4]>
  func.func public @main(%x: tensor<4xf32>) -> tensor<1xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@ring, [{"i"}]>] out_shardings=[<@ring, [{}], unreduced={"i"}>] manual_axes={"i"} (%y: tensor<1xf32>) {
      sdy.return %y : tensor<1xf32>
    } : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}
