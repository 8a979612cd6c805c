"""Writes golden/linalg. Expected values: exact rational arithmetic, rounded once here (linalg_base.py); mpmath
for fft, square roots and batch normalisation; the examples of the specification. Run: python3 linalg.py"""
import importlib
import sys

for name in ("linalg_reduce", "linalg_dot", "linalg_transform"):
    try:
        importlib.import_module(name).main()
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        print("missing", name, file=sys.stderr)
