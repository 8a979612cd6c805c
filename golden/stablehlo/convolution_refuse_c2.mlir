// refuse: 3 ConvGeneralDilated-C2: dimension numbers of lhs are {0,0,2}
func.func @main(%l: tensor<1x1x3xf32>, %r: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %0 = "stablehlo.convolution"(%l, %r) {
    dimension_numbers = #stablehlo.conv<raw
      input_batch_dimension = 0, input_feature_dimension = 0, input_spatial_dimensions = [2],
      kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 0, kernel_spatial_dimensions = [2],
      output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [2]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x1x3xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}
