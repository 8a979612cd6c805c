# A TPU at default precision: f32 operands of dots and convolutions are cut to bf16, products are summed in f32 ("Advanced
# guide to JAX numerics": precision DEFAULT is one bf16 pass). Figures of functions are not published: they are wide guesses.
inherit strict
ulps * * 16
ulps add * 0.5
ulps subtract * 0.5
ulps multiply * 0.5
ulps convert * 0.5
dot_input_bits f32 8
accumulate bf16 f32
keeps_precision bf16
flushes_subnormals f32 bf16
contracts yes
