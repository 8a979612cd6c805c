// refuse: 3 ApproxTopK: reduction_dim is 2, the rank 2
func.func @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%x: tensor<2x5xf32>) -> tensor<2x2xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.custom_call @ApproxTopK(%x, %low) {called_computations = [@larger], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 2 : i64, top_k = 2 : i64}} : (tensor<2x5xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
