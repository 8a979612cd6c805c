// oracle: hand
// arg0: pred[] false
// arg1: s32[] 7
// arg2: f32[2] {1, 2}
// out0: f32[2] {2, 4}
// out1: f32[2] {-1, -2}
func.func @main(%p: tensor<i1>, %i: tensor<i32>, %a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<?xf32>
  }, {
    %x = stablehlo.add %a, %a : tensor<?xf32>
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<?xf32>
  }, {
    %x = stablehlo.negate %a : tensor<?xf32>
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
