"""The commands of README and of pages of docs/, by a Python that has JAX and this package
(tests/tools/docs_test.py, which the C++ build runs without them)."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSAY = os.environ.get("ASSAY", str(ROOT / "build" / "dev" / "tools" / "assay"))


def test_commands_of_pages_give_what_the_pages_show():
    pytest.importorskip("jax")
    if not os.access(ASSAY, os.X_OK):
        pytest.skip(f"{ASSAY} is not built (ASSAY names the command)")
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    done = subprocess.run([sys.executable, ROOT / "tests" / "tools" / "docs_test.py", ASSAY], timeout=300,
                          capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert "skipped" not in done.stderr, done.stderr
