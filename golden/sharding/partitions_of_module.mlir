// oracle: hand
// rule: SDY-4
// r0p0/out0: u32[] 0
// r0p1/out0: u32[] 1
// r0p2/out0: u32[] 2
module @region attributes {mhlo.num_partitions = 3 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> tensor<ui32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    return %0 : tensor<ui32>
  }
}
