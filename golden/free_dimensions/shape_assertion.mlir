// refuse: 5 the first is 3, the second 2 {
// arg0: f32[3] {1, 2, 3}
// arg1: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %e = stablehlo.compare EQ, %n, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%e, %n, %m) {api_version = 2 : i32, error_message = "the first is {0}, the second {1} {{", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %a : tensor<?xf32>
}
