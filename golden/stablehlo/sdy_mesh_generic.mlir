// oracle: hand
// arg0: f32[2] {1.5, -2}
// out0: f32[2] {3, -4}
module @m {
  func.func public @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<mesh<["r"=1]>, [{"r", ?}p1]>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"r"}>}) {
    %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"r"}]>]>} : tensor<2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"r"}]> : tensor<2xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<2xf32>
    %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<2xf32>
    return %3 : tensor<2xf32>
  }
  "sdy.mesh"() <{mesh = #sdy.mesh<["r"=1]>, sym_name = "mesh"}> : () -> ()
}
