#!/usr/bin/env python3
"""Stands for a compiler under test: it runs a program, after a change that is wrong. The notebook finds it.

Usage: my_compiler.py PROGRAM IN.npz OUT.npz
"""

import pathlib
import re
import subprocess
import sys
import tempfile

program, inputs, outputs = sys.argv[1:]
text = pathlib.Path(program).read_text()
text = re.sub(r"pad=(\d+)_(\d+)x(\d+)_(\d+)", r"pad=\2_\1x\4_\3", text)
with tempfile.TemporaryDirectory() as folder:
    compiled = pathlib.Path(folder) / "compiled.hlo"
    compiled.write_text(text)
    sys.exit(subprocess.call(["assay", "run", compiled, "--inputs", inputs, "--output", outputs]))
