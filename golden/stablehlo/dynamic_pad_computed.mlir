// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// out0: f32[5,5] {{7, 7, 7, 7, 7}, {7, 1, 2, 3, 7}, {7, 7, 7, 7, 7}, {7, 4, 5, 6, 7}, {7, 7, 7, 7, 7}}
// Paddings that are put together of constants, as tools write shapes.
func.func @main(%x: tensor<2x3xf32>) -> tensor<5x5xf32> {
  %v = stablehlo.constant dense<7.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<1xi8>
  %0 = stablehlo.reshape %one : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.convert %zero : (tensor<1xi8>) -> tensor<1xi32>
  %lo = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xi32>) -> tensor<2xi32>
  %hi = stablehlo.constant dense<1> : tensor<2xi32>
  %in = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_pad %x, %v, %lo, %hi, %in : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x5xf32>
  return %2 : tensor<5x5xf32>
}
