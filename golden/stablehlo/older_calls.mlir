// oracle: mpmath
// decision: composite-stands-for-op
// arg0: f32[3] {0.375, 1.25, -2.75}
// arg1: s32[2] {2147483647, -3}
// arg2: s32[2] {8, 5}
// out0: f32[3] {0x1.12364p+0, 0x1.e36fcp+0, 0x1.f69c24p+2}
// out1: f32[2] {-2.75, 0.375}
// out2: s32[2] {2, 0}
// out3: s32[2] {3, -1}
// What artifacts of older versions have for CHLO operations: cosh by mpmath, the others by hand.
func.func @main(%x: tensor<3xf32>, %a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %0 = stablehlo.custom_call @mhlo.cosh(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %2 = "stablehlo.custom_call"(%a, %b) <{call_target_name = "mhlo.mulhi"}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1#0, %1#1, %2 : tensor<3xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}
