// refuse: 5 stablehlo.dynamic_reshape: the operand tensor<5xf32> has 5 elements, and the result [2,2] has 4
// arg0: f32[5] {1, 2, 3, 4, 5}
func.func @main(%a: tensor<?xf32>) -> tensor<2x?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %h = stablehlo.divide %n1, %two : tensor<1xi32>
  %s = stablehlo.concatenate %two, %h, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
