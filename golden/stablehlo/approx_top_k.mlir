// oracle: hand
// decision: approx-top-k
// arg0: f32[2,5] {{3, -1, 7, 7, 2}, {0, 5, -4, 1, 5}}
// out0: f32[2,2] {{7, 7}, {5, 5}}
// out1: s32[2,2] {{2, 3}, {1, 4}}
// out2: f32[2,4] {{-1, 2, 3, 7}, {-4, 0, 1, 5}}
// out3: s32[2,4] {{1, 4, 0, 2}, {2, 0, 3, 1}}
// out4: f32[1,5] {{3, 5, 7, 7, 5}}
// The largest two of each row; of the smallest two a TPU would give four candidates, which are the smallest four here; one array
// along dimension 0, as a program without indices has it, with the dictionary where older programs keep it.
func.func @largest(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @smallest(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%x: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x4xf32>, tensor<2x4xi32>, tensor<1x5xf32>) {
  %n = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %n, %low, %none) {called_computations = [@largest], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %n, %high, %none) {called_computations = [@smallest], mhlo.backend_config = {aggregate_to_topk = false, recall_target = 0.8 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  %2 = stablehlo.custom_call @ApproxTopK(%x, %low) {called_computations = [@larger], backend_config = {aggregate_to_topk = true, recall_target = 0.8 : f32, reduction_dim = 0 : i64, top_k = 1 : i64}, api_version = 4 : i32} : (tensor<2x5xf32>, tensor<f32>) -> tensor<1x5xf32>
  return %0#0, %0#1, %1#0, %1#1, %2 : tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x4xf32>, tensor<2x4xi32>, tensor<1x5xf32>
}
