func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1.0, -2.5]> : tensor<2xf32>
  %b = interpreter.probe %a, probe_id = "a, \22}" : tensor<2xf32>
  %c = "interpreter.run_parallel"(%b) {programs = [[@twice]]} : (tensor<2xf32>) -> tensor<2xf32>
  %d = interpreter.print %c : tensor<2xf32>
  check.expect_serialized_eq %a, probe_id = "a, \22}", iter = 0 : tensor<2xf32>
  check.expect_eq %d, %c : tensor<2xf32>
  check.expect_eq_const %d, dense<[2.0, -5.0]> : tensor<2xf32>
  check.expect_almost_eq %d, %c, tolerance = 0.1 : f64 : tensor<2xf32>
  check.expect_almost_eq_const %d, dense<[2.0, -5.0]> : tensor<2xf32> {tolerance = 0.1 : f64}
  check.expect_close %d, %c, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  stablehlo.custom_call @check.expect_almost_eq(%d, %c) {has_side_effect = true, tolerance = 0.1 : f64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
