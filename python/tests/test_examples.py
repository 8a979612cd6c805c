"""The scripts of examples/python run, and what they say is true."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


def test_ulp_errors(tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.png"
    done = subprocess.run([sys.executable, EXAMPLES / "ulp_errors.py", plot], capture_output=True, text=True,
                          timeout=120, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    assert plot.read_bytes().startswith(b"\x89PNG") and plot.stat().st_size > 20_000
    lines = done.stdout.splitlines()
    assert len(lines) == 9 and lines[-1] == f"written: {plot}"
    for line in lines[:-1]:
        found = re.match(r"\w+ +result f32: (?:4001 elements, all equal|\d+ of 4001 elements differ, at most (\d+) ulp)", line)
        assert found, line
    # XLA:CPU's exp is a polynomial in f32: not exact everywhere, and good to a few ulps.
    assert 1 <= int(re.search(r"at most (\d+) ulp", lines[0])[1]) <= 8
