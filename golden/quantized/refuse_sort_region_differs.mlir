// refuse: 3 QUANT-31: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.sort"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i32:f32, 0.5:3>>, %y: tensor<!quant.uniform<i32:f32, 0.5:3>>):
      %s = stablehlo.compare LT, %x, %y : (tensor<!quant.uniform<i32:f32, 0.5:3>>, tensor<!quant.uniform<i32:f32, 0.5:3>>) -> tensor<i1>
      stablehlo.return %s : tensor<i1> }) {dimension = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
