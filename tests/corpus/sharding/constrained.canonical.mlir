module @jit_constrained attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {"c"}]>}, %arg1: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {}]>}) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", "r"}, {}]>}, tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {"c"}]>}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"c"}, {"r"}]> : tensor<4x4xi32>
    return %1, %arg0 : tensor<4x4xi32>, tensor<4x4xi32>
  }
}
