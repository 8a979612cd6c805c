// oracle: hand: the broadcast has the size of the operand
// decision: open-size
// arg0: f32[5] {1, 2, 3, 4, 5}
// arg1: s32[] 3
// out0: f32[3] {0.5, 1, 1.5}
module @m {
  func.func public @main(%x: tensor<5xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>> {
    %y = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>
    %h = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %b = "stablehlo.broadcast_in_dim"(%h) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<5>>
    %m = stablehlo.multiply %y, %b : tensor<?xf32, #stablehlo.bounds<5>>
    return %m : tensor<?xf32, #stablehlo.bounds<5>>
  }
}
