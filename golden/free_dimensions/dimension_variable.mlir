// oracle: hand
// arg0: s32[] 3
// arg1: f32[] 5
// out0: f32[3] {5, 5, 5}
// The argument is a size (jax.jit(..).lower with symbolic shapes writes such ones).
func.func @main(%n: tensor<i32> {jax.global_constant = "n"}, %a: tensor<f32>) -> tensor<?xf32> {
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
