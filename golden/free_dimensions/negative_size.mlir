// refuse: 5 the sizes [-1] hold a negative one
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>) -> tensor<?xi64> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %m = stablehlo.subtract %n, %three : tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi64>
  return %r : tensor<?xi64>
}
