// refuse: 3 QUANT-6: 
func.func @main(%a: tensor<2x!quant.uniform<i8<-5:5>:f32, 0.5:6>>) -> (tensor<2x!quant.uniform<i8<-5:5>:f32, 0.5:6>>) {
  return %a : tensor<2x!quant.uniform<i8<-5:5>:f32, 0.5:6>>
}
