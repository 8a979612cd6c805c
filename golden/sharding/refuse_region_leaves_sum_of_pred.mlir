// refuse: 4 SDY-17: pred values that are unreduced
// rule: SDY-17
// arg0: pred[4] {true, false, false, true}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @ring = <["i"=4]>
  func.func public @main(%x: tensor<4xi1>) -> tensor<1xi1> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@ring, [{"i"}]>] out_shardings=[<@ring, [{}], unreduced={"i"}>] manual_axes={"i"} (%y: tensor<1xi1>) {
      sdy.return %y : tensor<1xi1>
    } : (tensor<4xi1>) -> tensor<1xi1>
    return %0 : tensor<1xi1>
  }
}
