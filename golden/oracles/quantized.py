#!/usr/bin/env python3
"""Writes golden/quantized/: StableHLO's quantized types.

Expected values are worked out in rational numbers, step by step as docs/spec/quantized.md says
(quantized_base.py), those of transcendental functions with mpmath; the examples of its section 8 are compared
with the numbers printed there.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import written  # noqa: E402
import quantized_ops  # noqa: E402
import quantized_refused  # noqa: E402
import quantized_types  # noqa: E402


# Rules of docs/spec/quantized.md that goldens show by their values.
RULES = {
    "QUANT-2": ["spelled_unsigned"],
    "QUANT-3": ["spelled_range"],
    "QUANT-5": ["spelled_bits", "quantize_rounds_quotient"],
    "QUANT-7": ["per_axis_one_pair"],
    "QUANT-10": ["spelled_blanks", "spelled_alias"],
    "QUANT-11": ["storage_outside_range", "bitcast_to_other"],
    "QUANT-12": ["constant", "constant_generic", "constant_bytes", "constant_signless_for_unsigned",
                 "constant_splat"],
    "QUANT-13": ["quantize_range", "constant_signless_for_u4"],
    "QUANT-15": ["roundtrip_s32_f64", "roundtrip_u32_f32", "every_storage_u8_f16"],
    "QUANT-16": ["quantize_signed", "roundtrip_s8_f6e2m3fn"],
    "QUANT-17": ["quantize_signed", "quantize_range", "range_excludes_zero"],
    "QUANT-18": ["requantize_same_type", "every_storage_s8_bf16", "every_storage_s8_f32"],
    "QUANT-19": ["dot_general", "dot_general_hybrid", "dot_general_to_s32", "convolution_pads_with_zero"],
    "QUANT-21": ["compare_lt", "is_finite", "add_per_axis", "dot_general_hybrid"],
    "QUANT-23": ["add_per_axis", "add_example"],
    "QUANT-30": ["broadcast_per_axis", "broadcast_one_pair", "broadcast_other_pairs", "reshape_per_axis",
                 "transpose_per_axis"],
    "QUANT-31": ["reduce_promotes", "all_reduce_promotes", "select_and_scatter"],
    "QUANT-32": ["bitcast_to_wider", "bitcast_to_integers", "refuse_bitcast_shape", "refuse_bitcast_axis"],
}


def with_rules(name, text):
    """The golden with the rules that it shows, behind the first line of its header."""
    rules = [label for label, names in RULES.items() if name in names]
    first, rest = text.split("\n", 1)
    return f"{first}\n// rule: {', '.join(rules)}\n{rest}" if rules else text


def main(dry_run):
    script = written.Script(__file__)
    names = {name for names in RULES.values() for name in names}
    for part in (quantized_types, quantized_ops, quantized_refused):
        for name, text in part.files().items():
            names.discard(name)
            script.write("quantized", name, with_rules(name, text), "mlir")
    assert not names, names
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
