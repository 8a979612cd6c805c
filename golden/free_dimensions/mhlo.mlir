// oracle: hand
// arg0: f32[2] {1, 2}
// out0: f32[2] {2, 4}
// out1: f32[] 3
// Operations of MHLO that StableHLO has in the same form are read as those.
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %0 = mhlo.add %a, %a : tensor<?xf32>
  %z = mhlo.constant dense<0.0> : tensor<f32>
  %1 = "mhlo.reduce"(%a, %z) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = "mhlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "mhlo.return"(%2) : (tensor<f32>) -> ()
  }) {dimensions = dense<0> : tensor<1xi64>} : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<?xf32>, tensor<f32>
}
