// oracle: hand
// arg0: s8[2] {-20, -13}
// infeed0.0: s8[2] {50, 55}
// outfeed0.0: s8[2] {-20, -13}
// out0: s8[2] {50, 55}
// out1: s8[2] {-20, -13}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %t = stablehlo.create_token : !stablehlo.token
  %i:2 = "stablehlo.infeed"(%t) {infeed_config = "", layout = []} : (!stablehlo.token) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%a, %i#1) {outfeed_config = ""} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, !stablehlo.token) -> !stablehlo.token
  %s = "stablehlo.send"(%a, %o) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}
    : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%o) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}
    : (!stablehlo.token) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, !stablehlo.token)
  return %i#0, %r#0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
