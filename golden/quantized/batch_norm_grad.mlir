// oracle: hand
// arg0: s8[4,1] {{-1}, {7}, {7}, {-1}}
// arg1: s8[1] {4}
// arg2: s8[1] {3}
// arg3: s8[1] {9}
// arg4: s8[4,1] {{3}, {1}, {1}, {-1}}
// out0: s8[4,1] {{1}, {-2}, {-2}, {-5}}
// out1: s8[1] {-2}
// out2: s8[1] {-2}
func.func @main(%a: tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %c: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %d: tensor<1x!quant.uniform<i8:f32, 0.5:1>>, %e: tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>) -> (tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) {epsilon = 0.0 : f32, feature_index = 1 : i64} :
    (tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<1x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x1x!quant.uniform<i8:f32, 0.5:1>>) ->
    (tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>)
  return %0#0, %0#1, %0#2 : tensor<4x1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>, tensor<1x!quant.uniform<i8:f32, 0.25:-2>>
}
