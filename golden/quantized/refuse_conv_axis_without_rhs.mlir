// refuse: 3 QUANT-25: 
func.func @main(%a: tensor<1x4x1x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2x1x2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<1x3x2x!quant.uniform<i8:f32:2, {0.5:3, 0.5:3}>>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x1x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x3x2x!quant.uniform<i8:f32:2, {0.5:3, 0.5:3}>>
  return %0 : tensor<1x3x2x!quant.uniform<i8:f32:2, {0.5:3, 0.5:3}>>
}
