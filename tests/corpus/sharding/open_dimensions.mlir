module @jit_open_dimensions attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "r", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {}]>}) -> (tensor<4x4xi32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4x4xi32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"r"}, {?}]> : tensor<4x4xi32>
    return %2 : tensor<4x4xi32>
  }
}
