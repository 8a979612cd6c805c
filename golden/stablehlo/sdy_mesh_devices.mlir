// oracle: hand
// arg0: f32[2] {1.5, -2}
// out0: f32[2] {3, -4}
module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=1]> {stablehlo.mesh = {axes = [{name = "r", size = 1 : i64}], device_ids = dense<0> : tensor<1xi64>}, sym_visibility = "private"} loc("here")
  func.func public @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}]>}) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
