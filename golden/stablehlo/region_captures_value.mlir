// refuse: 4 a region that uses a value from outside which is not a constant
// decision: region-captures
// arg0: s32[3] {3, 9, 5}
// arg1: s32[] 10
module @region_captures_value {
  func.func public @main(%x: tensor<3xi32>, %ten: tensor<i32>) -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r = "stablehlo.reduce"(%x, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      %t = stablehlo.minimum %s, %ten : tensor<i32>
      stablehlo.return %t : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    return %r : tensor<i32>
  }
}
