// oracle: rational
// arg0: s8[1,6,3] {{{-7, -62, 61}, {114, -95, -122}, {112, 4, -9}, {-30, 112, 115}, {75, -51, -10}, {-51, 71, -121}}}
// arg1: s8[3,3,2] {{{-8, 27}, {-76, 74}, {117, -49}}, {{-82, -94}, {-118, 77}, {20, -98}}, {{-15, 56}, {13, -40}, {-74, 6}}}
// out0: s32[1,4,2] {{{-18179, -13031}, {-52950, -18030}, {-40301, 4867}, {-13051, -19824}}}
func.func @main(%a: tensor<1x6x3x!quant.uniform<i8:f32, 0.1:-128>>, %b: tensor<3x3x2x!quant.uniform<i8:f32, 0.02:0>>) -> (tensor<1x4x2x!quant.uniform<i32:f32, 0.002:0>>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x6x3x!quant.uniform<i8:f32, 0.1:-128>>, tensor<3x3x2x!quant.uniform<i8:f32, 0.02:0>>) -> tensor<1x4x2x!quant.uniform<i32:f32, 0.002:0>>
  return %0 : tensor<1x4x2x!quant.uniform<i32:f32, 0.002:0>>
}
