// oracle: hand
// decision: region-captures
// arg0: s32[] 3
// arg1: s32[] 5
// out0: s32[] 46
// out1: s32[] 9
// 1 + 3 x (5 + 10); 3 + 3 + 3 where 3 < 5.
module @region_captures {
  func.func public @main(%n: tensor<i32>, %step: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %w:2 = stablehlo.while(%i = %zero, %s = %one) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.add %step, %ten : tensor<i32>
      %t = stablehlo.add %s, %d : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<i32>
    }
    %p = stablehlo.compare LT, %n, %step : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %b = "stablehlo.if"(%p) ({
      %e = stablehlo.add %n, %n : tensor<i32>
      %f = stablehlo.add %e, %w#0 : tensor<i32>
      stablehlo.return %f : tensor<i32>
    }, {
      stablehlo.return %step : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    return %w#1, %b : tensor<i32>, tensor<i32>
  }
}
