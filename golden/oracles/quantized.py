#!/usr/bin/env python3
"""Writes golden/quantized/: StableHLO's quantized types.

Expected values are worked out in rational numbers, step by step as spec/quantized.md says (quantized_base.py), those of
transcendental functions with mpmath; the examples of its section 8 are compared with the numbers printed there.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import written  # noqa: E402
import quantized_ops  # noqa: E402
import quantized_refused  # noqa: E402
import quantized_types  # noqa: E402


def main(dry_run):
    script = written.Script(__file__)
    for part in (quantized_types, quantized_ops, quantized_refused):
        for name, text in part.files().items():
            script.write("quantized", name, text, "mlir")
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
