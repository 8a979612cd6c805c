// oracle: hand
// rule: SDY-1
// arg0: f32[4] {1e8, 1, -1e8, 1}
// out0: f32[] 2
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = sdy.sharding_constraint %1 <@m, []> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
