// oracle: hand
// arg0: s8[4,1] {{1}, {3}, {7}, {-5}}
// arg1: s8[1] {4}
// arg2: s8[1] {2}
// arg3: s8[1] {3}
// arg4: s8[1] {9}
// out0: s8[4,1] {{-3}, {0}, {6}, {-12}}
func.func @main(%a: tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %c: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %d: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %e: tensor<1x!quant.uniform<i8:f32, 0.5:1>>) -> (tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 0.0 : f32, feature_index = 1 : i64} :
    (tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>
  return %0 : tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>
}
