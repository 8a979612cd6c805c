// oracle: hand
// arg0: s32[] 1
// arg1: f32[2] {1, 2}
// out0: f32[2] {-1, -2}
// A program for two platforms: the first argument is the number of the one that it runs on.
func.func @main(%p: tensor<i32> {jax.global_constant = "_platform_index"}, %a: tensor<?xf32>) -> tensor<?xf32> {
  %1 = "stablehlo.case"(%p) ({
    stablehlo.return %a : tensor<?xf32>
  }, {
    %x = stablehlo.negate %a : tensor<?xf32>
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
