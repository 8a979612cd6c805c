#!/usr/bin/env python3
"""The goldens by the engine gpu on this machine's own GPU. Usage: on_device.py ASSAY

Ends with 77, which ctest calls skipped, where there is none, and says why.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}
"""
FLAGS = ["--engine", "gpu", "--gpu-min-elements", "0"]


def main():
    assay = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "negate.hlo"
        program.write_text(PROGRAM, encoding="utf-8")
        plan = subprocess.run([assay, "plan", program, *FLAGS], capture_output=True, text=True,
                              check=True).stdout
    declined = re.search(r"engine gpu is not available: (.*)|\(gpu: (.*?)\)", plan)
    if declined:
        print(f"skipped: {declined[1] or declined[2]}")
        return 77
    return subprocess.run([assay, "golden", "check", root / "golden", *FLAGS], check=False).returncode


sys.exit(main())
