// oracle: hand
// arg0: f32[2] {1, 2}
// out0: f32[2] {3, 4}
// The size is handed on unchanged in the state.
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %z, %m = %n, %x = %a) : tensor<i32>, tensor<i32>, tensor<?xf32>
   cond {
    %c = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %f = stablehlo.constant dense<1.0> : tensor<f32>
    %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %k = stablehlo.dynamic_broadcast_in_dim %f, %m1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %y = stablehlo.add %x, %k : tensor<?xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %m, %y : tensor<i32>, tensor<i32>, tensor<?xf32>
  }
  return %r#2 : tensor<?xf32>
}
