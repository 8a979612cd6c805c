dot_input_bits f32 64
tensor_core_bits f16 0
dot_input_bits f32 1.5
