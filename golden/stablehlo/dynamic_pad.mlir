// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// out0: f32[3,5] {{7, 7, 7, 7, 7}, {1, 2, 3, 7, 7}, {4, 5, 6, 7, 7}}
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x5xf32> {
  %v = stablehlo.constant dense<7.0> : tensor<f32>
  %lo = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %hi = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %in = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %v, %lo, %hi, %in : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
