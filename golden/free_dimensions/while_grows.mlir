// refuse: 5 stablehlo.while: value 0 of the state is tensor<2xf32> before a turn and tensor<4xf32> behind it
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = stablehlo.while(%x = %a) : tensor<?xf32>
   cond {
    %c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
