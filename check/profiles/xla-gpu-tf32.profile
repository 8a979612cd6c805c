# XLA's GPU backend as it is by default: f32 dots and convolutions on tensor cores take 11 significant bits of their operands.
inherit xla-gpu
dot_input_bits f32 11
