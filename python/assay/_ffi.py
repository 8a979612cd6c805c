"""Handlers of XLA's FFI, as jax.ffi registers them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assay import _assay
from assay._errors import translated


def register_ffi_target(name: str, fn: Any, platform: str = "cpu", api_version: int = 1) -> None:
    """Lets custom calls of `name` run a handler of XLA's FFI, in programs that are loaded from now on.

    Takes what jax.ffi.register_ffi_target takes: a PyCapsule with the handler's function (jax.ffi.pycapsule),
    or a dictionary of them by stage: instantiate, prepare, initialize, execute. Assay runs on the CPU: for
    another platform there is nothing to register, and api_version 0, XLA's earlier custom calls, is not
    there.

    Raises NotSupported for a handler of another version of the interface, EvaluationFailed where `name` has
    other handlers or is a target that Assay itself defines.
    """
    if platform.lower() not in ("cpu", "host"):
        raise ValueError(f"platform is {platform!r}, wanted 'cpu'")
    if api_version != 1:
        raise ValueError(f"api_version is {api_version!r}, wanted 1, XLA's typed FFI")
    stages = dict(fn) if isinstance(fn, Mapping) else {"execute": fn}
    with translated():
        _assay.register_ffi(name, stages)


def register_ffi_type(name: str, type_registration: Mapping[str, Any], platform: str = "cpu") -> None:
    """Registers the type of a state, as jax.ffi.register_ffi_type does: {"type_id": PyCapsule, "type_info":
    PyCapsule}.

    A type that JAX has registered keeps the number that it got there.
    """
    if platform.lower() not in ("cpu", "host"):
        raise ValueError(f"platform is {platform!r}, wanted 'cpu'")
    with translated():
        _assay.register_ffi_type(name, type_registration["type_id"], type_registration.get("type_info"))


def load_ffi_library(path: str | os.PathLike) -> list[str]:
    """Loads a library that registers its handlers by itself (XLA_FFI_REGISTER_HANDLER);
    gives their targets."""
    with translated():
        return _assay.load_ffi(os.fspath(path))
