# all forms
device NVIDIA H200
variant xla-gpu-tf32
inherit strict
ulps * * 0.5
ulps exponential f32 2
ulps tanh * 1e30
underflows divide f32
accumulate f16 f32
accumulate_dots bf16 f32
dot_input_bits f32 11
tensor_core_bits f16 24
keeps_precision bf16 f16
flushes_subnormals f32
contracts yes
stores_dots no
stores_loop_state yes
