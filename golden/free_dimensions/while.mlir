// oracle: hand
// arg0: f32[3] {1, 2, 3}
// out0: f32[3] {8, 16, 24}
// As many turns as there are elements; the size comes from outside of the loop.
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<?xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %k = stablehlo.dynamic_broadcast_in_dim %two, %n1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %y = stablehlo.multiply %x, %k : tensor<?xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}
