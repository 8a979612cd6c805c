// refuse: 3 SDY-V9
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32> {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>}) -> tensor<4x4xi32> {
  return %x : tensor<4x4xi32>
}
