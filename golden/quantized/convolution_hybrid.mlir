// oracle: rational
// arg0: f32[1,5,1] {{{0x1.99999ap-4}, {-0x1.99999ap-3}, {0x1.333334p-2}, {0x1.8p+0}, {-0x1.4p+1}}}
// arg1: s8[2,1,2] {{{2, 55}}, {{-114, 110}}}
// out0: f32[1,5,2] {{{-0x1.c8f5c4p+1, 0x1.01999ap+3}, {0x1.c33334p+2, -0x1.7ccccep+3}, {-0x1.50f5c4p+3, 0x1.f80002p+3}, {-0x1.ae8f5cp+5, 0x1.0ab334p+7}, {0x1.5f999ap+6, -0x1.148p+7}}}
func.func @main(%a: tensor<1x5x1xf32>, %b: tensor<2x1x2x!quant.uniform<i8:f32:2, {0.3:5, 0.7:-5}>>) -> (tensor<1x5x2xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [1], pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x5x1xf32>, tensor<2x1x2x!quant.uniform<i8:f32:2, {0.3:5, 0.7:-5}>>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
