// oracle: hand
// arg0: f32[7] {1, 2, 3, 4, 5, 6, 7}
// out0: s64[4] {0, 1, 2, 3}
// out1: s64[] 4
// max((7 + 2 - 1) * 3 / 5 % 6, 2), by the operations that lowerings from torch write.
func.func @main(%a: tensor<?xf32>) -> (tensor<?xi64>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %i = arith.index_cast %n : index to i64
  %c2 = arith.constant 2 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %c5 = arith.constant 5 : i64
  %c6 = arith.constant 6 : i64
  %0 = arith.addi %i, %c2 : i64
  %1 = arith.subi %0, %c1 : i64
  %2 = arith.muli %1, %c3 : i64
  %3 = arith.divsi %2, %c5 : i64
  %4 = arith.remsi %3, %c6 : i64
  %5 = arith.maxsi %4, %c2 : i64
  %6 = arith.cmpi sgt, %5, %c1 : i64
  %7 = arith.select %6, %5, %c1 : i64
  %8 = arith.trunci %7 : i64 to i32
  %9 = arith.extsi %8 : i32 to i64
  %s = tensor.from_elements %9 : tensor<1xi64>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  %t = tensor.from_elements %9 : tensor<i64>
  return %r, %t : tensor<?xi64>, tensor<i64>
}
