#loc = loc("f.py":1:2 to 3:4)
!t = tensor<2xf32>
module @m attributes {a = [1, -2.5 : f32, 0x7FC00000 : f32, "x\41", @f::@g, unit, array<i64: 1, 2>, {k, "l" = true}]} {
  func.func public @main(%a: !t {tf.aliasing_output = 0 : i32}, %b: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> !t {
    %0 = stablehlo.constant dense<"0x0000803F000000C0"> : !t loc(#loc1)
    %1:2 = "stablehlo.custom_call"(%0, %a) <{call_target_name = "f", operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], api_version = 4 : i32}> {mhlo.frontend_attributes = {a = "b"}} : (!t, !t) -> (!t, !t)
    %2 = stablehlo.convolution(%0, %1#1) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {feature_group_count = 1 : i64} : (!t, !t) -> !t
    return %0 : !t loc(fused<"x">[callsite("a" at unknown), #loc])
  }
}
#loc1 = loc("name"(#loc))
{-# dialect_resources: { builtin: { r: "0x0400000001000000" } } #-}
