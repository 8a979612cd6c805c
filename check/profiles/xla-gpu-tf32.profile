# XLA's GPU backend as it is by default: f32 dots and convolutions on tensor cores take 11 significant bits of their operands.
made_by tests/differential/measure_profile.py of Assay, revision 6258bfde
backend XLA:GPU of JAX 0.11.2, CUDA 13
device NVIDIA H200
driver 580.159.04
date 2026-11-26
inherit xla-gpu
# Operands in TF32, whose products are added up as those of bf16 are (xla-gpu).
dot_input_bits f32 11
tensor_core_bits f32 25
