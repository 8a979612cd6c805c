module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"r"}, {}]>}) {
    %0 = stablehlo.sine %arg0 : tensor<4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"r"}, {}]> : tensor<4x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"r"}, {}]> : tensor<4x4xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<4x4xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"r"}, {}]> : tensor<4x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    %7 = sdy.sharding_constraint %6 <@mesh, []> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{"r"}, {}]> : tensor<4x4xf32>
    %10 = stablehlo.add %5, %9 : tensor<4x4xf32>
    %11 = sdy.sharding_constraint %10 <@mesh, [{"r"}, {}]> : tensor<4x4xf32>
    return %11 : tensor<4x4xf32>
  }
}
