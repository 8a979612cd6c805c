// refuse: 4 QUANT-9: 
func.func @main(%a: tensor<2x!quant.calibrated<f32<-1.0:1.0>>>) -> (tensor<2x!quant.calibrated<f32<-1.0:1.0>>>) {
  return %a : tensor<2x!quant.calibrated<f32<-1.0:1.0>>>
}
