"""Recording calls of JAX functions whose results are no correct backend's (docs/jax.md, "Recording")."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import threading
import warnings
from typing import Any, Callable

import numpy as np

from assay import _assay
from assay._bounds import BoundsReport, report_of
from assay._jax import _DEFAULTS, _jax, _Lowered, _plain
from assay._module import _leaves, _options

FORMAT = 1
# What a check of one call may take, where the caller says nothing.
TIMEOUT_SECONDS = 60


def record(function: Callable | None = None, *, folder: str | os.PathLike | None = None,
           profile: str | None = None, every: int = 1, limit: int = 20, max_bytes: int = 64 << 20,
           samples: int = 16, options: dict | None = None, backend: Callable | None = None) -> Callable:
    """The function, compiled by jax.jit, with a check of what it returns.

    A call whose result has a NaN, or is by assay.check no correct backend's of the profile ("xla-cpu", ...;
    $ASSAY_RECORD_PROFILE, or strict), is written to a folder of its own below `folder` ($ASSAY_RECORD):
    program, inputs, outputs, versions and verdict, for `assay replay`. Without a folder the function is only
    compiled.
    Used as assay.record(f, ...) or as a decorator, @assay.record(profile="xla-cpu").

    every: one call in so many is checked. limit: folders that one recorded function writes. max_bytes: of
    the inputs and outputs of a call that is checked. samples, options: as of assay.check; a check ends after
    60 s unless options has a timeout. backend: runs instead of jax.jit(function). What prevents a check or a
    recording is a warning: the call returns its result in any case.
    """
    if function is None:
        return functools.partial(record, folder=folder, profile=profile, every=every, limit=limit,
                                 max_bytes=max_bytes, samples=samples, options=options, backend=backend)
    if every < 1 or limit < 0 or max_bytes < 0:
        raise ValueError(f"every is {every}, limit {limit}, max_bytes {max_bytes}; want every from 1 and the "
                         "others from 0")
    jax = _jax()
    run = backend if backend is not None else jax.jit(function)
    where = folder if folder is not None else os.environ.get("ASSAY_RECORD")
    if not where:
        return functools.wraps(function)(run)
    recorder = _Recorder(function, pathlib.Path(where),
                         profile or os.environ.get("ASSAY_RECORD_PROFILE") or "strict", every, limit,
                         max_bytes, samples, {"timeout": TIMEOUT_SECONDS, **(options or {})})

    @functools.wraps(function)
    def recorded(*args, **kwargs):
        leaves = jax.tree_util.tree_leaves((args, kwargs))
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return function(*args, **kwargs)  # a part of another function that is traced
        result = run(*args, **kwargs)
        recorder.look_at(args, kwargs, result)
        return result

    return recorded


class _Recorder:
    """The checks of one function, and the folders that it has written."""

    def __init__(self, function, folder, profile, every, limit, max_bytes, samples, options):
        self.function, self.folder, self.profile = function, folder, profile
        self.every, self.limit, self.max_bytes = every, limit, max_bytes
        self.samples, self.options = samples, options
        self.calls = self.written = 0
        self.warned: set[str] = set()
        self.lock = threading.Lock()

    def look_at(self, args: tuple, kwargs: dict, result: Any) -> None:
        with self.lock:
            self.calls += 1
            if (self.calls - 1) % self.every or self.written >= self.limit:
                return
            try:
                self._check(args, kwargs, result)
            except Exception as error:  # a check is no reason to lose the caller's result
                self._warn(type(error).__name__, f"a call could not be checked: {error}")

    def _warn(self, kind: str, message: str) -> None:
        """Each kind of trouble once."""
        if kind in self.warned:
            return
        self.warned.add(kind)
        warnings.warn(f"assay.record of {_name_of(self.function)}: {message}", stacklevel=4)

    def _check(self, args: tuple, kwargs: dict, result: Any) -> None:
        jax = _jax()
        outputs = [_plain(leaf) for leaf in jax.tree_util.tree_leaves(result)]
        size = sum(a.nbytes for a in outputs)
        size += sum(
            np.asarray(_plain_or_scalar(leaf)).nbytes
            for leaf in jax.tree_util.tree_leaves((args, kwargs)))
        if size > self.max_bytes:
            return self._warn("size", f"a call has {size} bytes of arrays, more than max_bytes, {self.max_bytes}")
        lowered = _Lowered(self.function, args, kwargs)
        inputs = lowered.arguments(args, kwargs)
        why = "nan" if any(_has_nan(output) for output in outputs) else ""
        report, error = None, ""
        try:
            report = self._report(lowered, inputs, outputs)
        except Exception as failed:  # a NaN is worth a recording without a verdict
            if not why:
                raise
            error = str(failed)
        if report is not None and not report.ok:
            why = "implausible" if report.ok_as_proven else "outside"
        if why:
            self._write(args, kwargs, inputs, outputs, why, report, error)

    def _report(self, lowered, inputs, outputs) -> BoundsReport:
        settings = _options(**{**_DEFAULTS, **self.options})
        return report_of(lowered.module,
                         _leaves(inputs),
                         _leaves(outputs, name="out"),
                         self.profile,
                         settings,
                         samples=self.samples)

    def _write(self, args, kwargs, inputs, outputs, why, report, error) -> None:
        jax = _jax()
        program = jax.jit(self.function, keep_unused=True).lower(*args, **kwargs).as_text()
        arrays = {"inputs": {f"arg{k}": a for k, a in enumerate(inputs)},
                  "outputs": {f"out{k}": a for k, a in enumerate(outputs)}}
        target = self.folder / f"{_name_of(self.function)}-{_digest(program, inputs)}"
        if target.exists():
            return  # the same program on the same inputs
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = pathlib.Path(tempfile.mkdtemp(prefix=".partial-", dir=self.folder))
        try:
            (partial / "program.mlir").write_text(program, encoding="utf-8")
            for name, stored in arrays.items():
                np.savez(partial / f"{name}.npz", **stored)
            facts = self._facts(why, report, error)
            (partial / "replay.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
            (partial / "README.md").write_text(_readme(facts), encoding="utf-8")
            os.chmod(partial, 0o777 & ~_umask())
            partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            if target.exists():  # another process was first
                return
            raise
        self.written += 1
        if self.written == self.limit:
            self._warn("limit", f"{self.limit} calls are recorded; no more are checked")

    def _facts(self, why: str, report: BoundsReport | None, error: str) -> dict:
        jax = _jax()
        import jaxlib
        device = jax.devices()[0]
        counts = {} if report is None else {
            name: sum(getattr(output, name) for output in report.outputs)
            for name in ("elements", "inside", "outside", "plausible", "implausible", "undecided")}
        return {
            "format": FORMAT,
            "function": _name_of(self.function),
            "program": "program.mlir",
            "inputs": "inputs.npz",
            "outputs": "outputs.npz",
            "profile": self.profile,
            "samples": self.samples,
            "why": why,
            "verdict": str(report) if report is not None else f"not checked: {error}",
            "counts": counts,
            "versions": {
                "assay": _assay.version,
                "jax": jax.__version__,
                "jaxlib": jaxlib.__version__,
                "numpy": np.__version__
            },
            "platform": {
                "name": device.platform,
                "device": device.device_kind,
                "version": " ".join(str(device.client.platform_version).split())
            },
            "x64": bool(jax.config.jax_enable_x64),
        }


def _name_of(function: Callable) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", getattr(function, "__name__",
                                                   "function")).strip("._")[:80] or "function"


def _plain_or_scalar(leaf) -> np.ndarray:
    return _plain(leaf) if hasattr(leaf, "dtype") else np.asarray(leaf)


def _has_nan(array: np.ndarray) -> bool:
    if array.dtype.kind in "biu" or array.size == 0:
        return False
    with np.errstate(all="ignore"):
        return bool((array != array).any())


def _digest(program: str, inputs: list[np.ndarray]) -> str:
    digest = hashlib.sha256(program.encode())
    for array in inputs:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def _umask() -> int:
    """The process's; mkdtemp's folders are the user's alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _readme(facts: dict) -> str:
    reasons = {"nan": "has a NaN", "outside": "has elements that no correct backend gives",
               "implausible": "has elements that no correct backend is known to give"}
    verdict = "\n".join(f"    {line}" for line in facts["verdict"].splitlines())
    return f"""# A recorded call of {facts['function']}

Its result by {facts['platform']['name']} ({facts['platform']['device']}, jaxlib {facts['versions']['jaxlib']})
{reasons[facts['why']]}. By profile {facts['profile']}:

{verdict}

`program.mlir` is the program (StableHLO), `inputs.npz` has its arguments, `outputs.npz` what the backend returned, and
`replay.json` versions and verdict. In the folder above this one:

    assay replay FOLDER                     # compares the outputs with the exact ones again
    assay replay FOLDER --backend './mine {{program}} {{inputs}} {{outputs}}' --isolate
                                            # runs a backend, and names the first wrong instruction

The first is short for

    assay diff program.mlir --inputs inputs.npz --actual outputs.npz --profile {facts['profile']}

in this folder.
"""
