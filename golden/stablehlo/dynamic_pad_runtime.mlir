// refuse: 4 stablehlo.dynamic_pad: edge_padding_low of s32[2], which is not constant
func.func @main(%x: tensor<2x3xf32>, %lo: tensor<2xi32>) -> tensor<3x5xf32> {
  %v = stablehlo.constant dense<7.0> : tensor<f32>
  %hi = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %in = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %v, %lo, %hi, %in : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
