// refuse: 3 QUANT-3: 
func.func @main(%a: tensor<2x!quant.uniform<i8<-129:127>:f32, 0.5>>) -> (tensor<2x!quant.uniform<i8<-129:127>:f32, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i8<-129:127>:f32, 0.5>>
}
