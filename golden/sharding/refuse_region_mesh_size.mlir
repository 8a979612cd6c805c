// refuse: 3 SDY-V17
// rule: SDY-5
module attributes {mhlo.num_partitions = 4 : i32} {
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<2x4xi32>) {
    sdy.return %y : tensor<2x4xi32>
  } : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
}
