"""assay.record: which calls are written, what the folders hold, and that they can be replayed."""

import json
import os
import subprocess
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import assay


def softmax(x):
    return jnp.exp(x) / jnp.exp(x).sum()


X = np.linspace(-2, 2, 16, dtype=np.float32)


def folders(path):
    return sorted(p for p in path.iterdir() if not p.name.startswith(".")) if path.exists() else []


def facts(folder):
    return json.loads((folder / "replay.json").read_text())


def test_a_right_result_is_not_recorded(tmp_path):
    recorded = assay.record(softmax, folder=tmp_path / "r", profile="xla-cpu")
    np.testing.assert_array_equal(recorded(X), jax.jit(softmax)(X))
    assert folders(tmp_path / "r") == []


def test_a_nan_is_recorded_with_all_that_replaying_takes(tmp_path):
    recorded = assay.record(softmax, folder=tmp_path, profile="xla-cpu")
    result = recorded(np.float32([1, 1000]))
    assert np.isnan(result[1])
    (folder,) = folders(tmp_path)
    assert folder.name.startswith("softmax-")
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md", "inputs.npz", "outputs.npz", "program.mlir", "replay.json"
    ]
    known = facts(folder)
    assert known["why"] == "nan" and known["profile"] == "xla-cpu"
    assert known["versions"]["jax"] == jax.__version__ and known["platform"]["name"] == "cpu"
    np.testing.assert_array_equal(np.load(folder / "outputs.npz")["out0"], result)
    np.testing.assert_array_equal(np.load(folder / "inputs.npz")["arg0"], np.float32([1, 1000]))
    # The exact result has the NaN too (inf / inf): the folder says so.
    exact = assay.load(folder / "program.mlir").evaluate(np.float32([1, 1000]))
    assert np.isnan(exact[1]) and "outside" not in known["why"]


def test_a_planted_error_is_recorded_as_outside_of_its_bound(tmp_path):
    def wrong(x):
        return softmax(x).at[3].add(1e-3)

    recorded = assay.record(softmax, folder=tmp_path, profile="xla-cpu", backend=jax.jit(wrong))
    np.testing.assert_array_equal(recorded(X), jax.jit(wrong)(X))
    (folder,) = folders(tmp_path)
    assert facts(folder)["why"] == "outside" and facts(folder)["counts"]["outside"] == 1
    report = assay.diff(folder / "program.mlir",
                        folder / "inputs.npz",
                        folder / "outputs.npz",
                        profile="xla-cpu")
    assert not report.ok and report.outputs[0].worst[0].index == (3,)
    assert f"--profile {facts(folder)['profile']}" in (folder / "README.md").read_text()


@pytest.mark.skipif("ASSAY" not in os.environ, reason="ASSAY does not name the command")
def test_the_command_replays_a_folder(tmp_path):
    recorded = assay.record(softmax, folder=tmp_path, profile="xla-cpu", backend=lambda x: softmax(x) * 1.001)
    recorded(X)
    (folder,) = folders(tmp_path)
    command = os.environ["ASSAY"]
    replayed = subprocess.run([command, "replay", str(folder)], capture_output=True, text=True)
    assert replayed.returncode == 1 and "16 outside" in replayed.stdout
    backend = f"{command} run {{program}} --inputs {{inputs}} --output {{outputs}}"
    assert subprocess.run([command, "replay", str(folder), "--backend", backend]).returncode == 0


def test_the_environment_names_folder_and_profile(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_RECORD", str(tmp_path / "r"))
    monkeypatch.setenv("ASSAY_RECORD_PROFILE", "tpu-bf16")

    @assay.record
    def log(x):
        return jnp.log(x)

    log(np.float32([-1.0]))
    assert facts(folders(tmp_path / "r")[0])["profile"] == "tpu-bf16"
    monkeypatch.delenv("ASSAY_RECORD")
    assert np.isnan(assay.record(jnp.log)(np.float32(-1)))
    assert len(folders(tmp_path / "r")) == 1


def test_equal_calls_are_recorded_once_and_others_up_to_the_limit(tmp_path):
    recorded = assay.record(jnp.log, folder=tmp_path, limit=2)
    with pytest.warns(UserWarning, match="2 calls are recorded"):
        for value in (-1, -1, -2, -3, -4):
            recorded(np.float32(value))
    assert len(folders(tmp_path)) == 2


def test_every_nth_call_is_checked(tmp_path):
    recorded = assay.record(jnp.log, folder=tmp_path, every=3)
    for value in range(-1, -8, -1):
        recorded(np.float32(value))
    assert sorted(float(np.load(f / "inputs.npz")["arg0"]) for f in folders(tmp_path)) == [-7, -4, -1]


def test_large_calls_are_left_out_with_one_warning(tmp_path):
    recorded = assay.record(jnp.log, folder=tmp_path, max_bytes=100)
    with pytest.warns(UserWarning, match="more than max_bytes") as found:
        recorded(np.full(1000, -1, np.float32))
        recorded(np.full(1001, -1, np.float32))
    assert len(found) == 1 and folders(tmp_path) == []


def test_what_can_not_be_checked_does_not_fail_the_call(tmp_path):
    recorded = assay.record(softmax, folder=tmp_path, profile=str(tmp_path / "no.profile"))
    with pytest.warns(UserWarning, match="could not be checked"):
        result = recorded(X)
    np.testing.assert_array_equal(result, jax.jit(softmax)(X))
    # A NaN is written without a verdict.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorded(np.float32([1000, 1]))
    assert facts(folders(tmp_path)[0])["verdict"].startswith("not checked: ")


def test_pytrees_random_keys_and_narrow_types(tmp_path):
    def draw(state, key):
        return {"w": jax.random.normal(key, (3,)).astype(jnp.bfloat16) * jnp.log(state["x"])}

    recorded = assay.record(draw, folder=tmp_path, profile="xla-cpu")
    recorded({"x": np.float32(-1)}, jax.random.key(1))
    (folder,) = folders(tmp_path)
    assay.diff(folder / "program.mlir", folder / "inputs.npz", folder / "outputs.npz", profile="xla-cpu")


def test_a_recorded_function_can_be_traced(tmp_path):
    recorded = assay.record(jnp.log, folder=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(jax.grad(lambda x: recorded(x) * 2)(2.0))
    assert folders(tmp_path) == []


@pytest.mark.parametrize("wrong", [{"every": 0}, {"limit": -1}, {"max_bytes": -1}])
def test_wrong_limits_are_refused(wrong):
    with pytest.raises(ValueError, match="want every from 1"):
        assay.record(jnp.log, **wrong)
