"""python -m assay.backend, as the command `assay` runs it."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax")

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "golden" / "programs"


def run(program, inputs, outputs):
    return subprocess.run([sys.executable, "-m", "assay.backend", program, inputs, outputs], timeout=120,
                          capture_output=True, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})


@pytest.mark.parametrize("form", ["program.hlo", "program.mlir", "program.mlirbc", "program.pb"])
def test_xla_runs_a_program_of_any_form(form, tmp_path):
    folder = PROGRAMS / "softmax"
    done = run(folder / form, folder / "inputs.npz", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as found, np.load(folder / "xla_cpu.npz") as wanted:
        assert found.files == wanted.files
        np.testing.assert_allclose(found["out0"], wanted["out0"], rtol=1e-5)


def test_types_that_numpy_lacks_and_several_results(tmp_path):
    import ml_dtypes

    (tmp_path / "p.hlo").write_text("HloModule m\nENTRY e {\n  x = bf16[3] parameter(0)\n"
                                    "  y = bf16[3] add(x, x)\n  n = s4[2] constant({1, -2})\n"
                                    "  ROOT t = (bf16[3], s4[2]) tuple(y, n)\n}\n")
    np.savez(tmp_path / "in.npz", arg0=np.array([1, 2.5, -3], ml_dtypes.bfloat16))
    done = run(tmp_path / "p.hlo", tmp_path / "in.npz", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as found:
        assert found["out0"].view(ml_dtypes.bfloat16).tolist() == [2, 5, -6]
        assert found["out1"].view(ml_dtypes.int4).tolist() == [1, -2]


@pytest.mark.parametrize("program, words", [
    ("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n", "BINARY-C5"),
    ("HloModule m\nENTRY e {\n  x = (f32[2], f32[2]) parameter(0)\n"
     "  ROOT y = f32[2] get-tuple-element(x), index=0\n}\n", "parameter 0 is no array"),
    ("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n"
     "  ROOT z = f32[2] add(x, y)\n}\n", "arg1"),
])
def test_what_it_can_not_run_is_said(program, words, tmp_path):
    (tmp_path / "p.hlo").write_text(program)
    np.savez(tmp_path / "in.npz", arg0=np.ones(2, np.float32))
    done = run(tmp_path / "p.hlo", tmp_path / "in.npz", tmp_path / "out.npz")
    assert done.returncode == 1 and "assay.backend: " in done.stderr and words in done.stderr
    assert not (tmp_path / "out.npz").exists()


def test_wrong_usage():
    done = subprocess.run([sys.executable, "-m", "assay.backend", "x"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("usage: ")
