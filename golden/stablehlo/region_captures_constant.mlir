// oracle: hand
// decision: region-captures
// arg0: s32[3] {3, 9, 5}
// out0: s32[] 10
// Sums that end at 6 + 4, made of constants outside: min(0 + 3, 10) = 3, min(12, 10), min(15, 10).
module @region_captures_constant {
  func.func public @main(%x: tensor<3xi32>) -> tensor<i32> {
    %six = stablehlo.constant dense<6> : tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %ten = stablehlo.add %six, %four : tensor<i32>
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
