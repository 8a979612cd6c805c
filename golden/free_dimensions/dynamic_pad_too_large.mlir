// refuse: 5 does not fit in 64 bits
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %m = stablehlo.constant dense<9223372036854775807> : tensor<1xi64>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dynamic_pad %a, %z, %m, %m, %m : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
