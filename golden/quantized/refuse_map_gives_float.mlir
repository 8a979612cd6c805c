// refuse: 3 QUANT-21: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2xf32>) {
  %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5:3>>):
      %y = stablehlo.uniform_dequantize %x : (tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<f32>
      stablehlo.return %y : tensor<f32> }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
