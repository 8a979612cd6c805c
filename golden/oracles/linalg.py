"""Writes golden/linalg. Expected values: exact rational arithmetic, rounded once here (linalg_base.py);
mpmath for fft, square roots and batch normalisation; the examples of the specification. Run with mpmath
installed: python3 linalg.py"""
import importlib

import written
from linalg_base import SCRIPT

if __name__ == "__main__":
    dry_run = written.dry_run(__doc__)
    for name in ("linalg_reduce", "linalg_dot", "linalg_transform", "linalg_huge", "linalg_lapack"):
        importlib.import_module(name).main()
    SCRIPT.finish(dry_run)
