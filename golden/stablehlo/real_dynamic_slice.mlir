// oracle: hand
// arg0: f32[6,3] {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}, {16, 17, 18}}
// out0: f32[2,3] {{4, 5, 6}, {10, 11, 12}}
func.func @main(%x: tensor<6x3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %l = stablehlo.constant dense<[5, 3]> : tensor<2xi32>
  %t = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<6x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
