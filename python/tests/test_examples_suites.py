"""examples/pytest passes and fails where it should; the commands of examples/github/conformance.yml run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ASSAY = os.environ.get("ASSAY", str(ROOT / "build" / "dev" / "tools" / "assay"))


def pytest_in(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"})


def test_the_suite_with_goldens(tmp_path):
    pytest.importorskip("jax")
    suite = shutil.copytree(EXAMPLES / "pytest", tmp_path / "suite")
    done = pytest_in(suite)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout + done.stderr
    model = suite / "model.py"
    model.write_text(model.read_text().replace("jnp.tril(", "jnp.triu("))
    done = pytest_in(suite)
    assert done.returncode == 1, done.stdout
    assert "FAILED test_model.py::test_the_model_means_what_it_meant" in done.stdout
    assert "FAILED test_model.py::test_the_kernel_gives_what_a_correct_backend_may_give" in done.stdout


def test_the_workflow_of_a_backends_repository(tmp_path):
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("jax")
    if not os.access(ASSAY, os.X_OK):
        pytest.skip(f"{ASSAY} is not built (ASSAY names the command)")
    plugin = pathlib.Path(ASSAY).resolve().parents[1] / "pjrt" / "libpjrt_assay.so"
    if not plugin.exists():
        pytest.skip(f"{plugin} is not built")
    workflow = yaml.safe_load((EXAMPLES / "github" / "conformance.yml").read_text())
    steps = workflow["jobs"]["conformance"]["steps"]
    commands = {step["name"]: step["run"] for step in steps if "run" in step}
    assert list(commands) == ["Install", "Build the plugin", "Make the suite", "Run it"]
    for name in re.findall(r"\$(\w+)", "".join(commands.values())):
        assert name in workflow["env"] or name == "PWD", name
    # What installs and builds is done: there are this Python, Assay's plugin and the command.
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "assay").symlink_to(os.path.abspath(ASSAY))
    packages = ROOT / "conformance"
    (binaries / "python").write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    (binaries / "python").chmod(0o755)
    (tmp_path / "expected.txt").write_text("# none\n")
    environment = {**os.environ, **{key: str(value) for key, value in workflow["env"].items()},
                   "PLUGIN": str(plugin), "SAMPLE": "40", "EXPECTED_FAILURES": "expected.txt"}

    def run(name, **changed):
        return subprocess.run(["bash", "-e", "-c", commands[name]], cwd=tmp_path, capture_output=True,
                              text=True, timeout=400, env={**environment, **changed})

    for name in ("Make the suite", "Run it"):
        done = run(name)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    assert (tmp_path / "conformance.html").stat().st_size > 1000
    # The job fails with another plugin, and where a case passes that is expected to fail.
    assert run("Run it", PLUGIN="no.so").returncode != 0
    (tmp_path / "expected.txt").write_text("*: all\n")
    assert run("Run it").returncode == 1
