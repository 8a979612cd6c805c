"""Holding a backend's results against what a correct one may return (docs/bounds.md)."""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from assay import _assay
from assay._errors import translated
from assay._module import Module, _flatten, _leaves, _options, load
from assay._types import DTYPES


@dataclasses.dataclass(frozen=True)
class Element:
    """An element that is off by much of its bound, or by more."""

    index: tuple[int, ...]
    exact: str
    actual: str
    radius: float  # how far a correct backend's value may be from the exact one
    ulps: int  # from exact to actual
    share: float  # the distance as a share of the radius; more than 1: outside


@dataclasses.dataclass(frozen=True)
class OutputBounds:
    """How one output lies in its bounds."""

    # where it lies in the function's result, such as "[0]['w']"; of programs the key, such as "out0"
    path: str
    elements: int
    inside: int
    outside: int  # proven violations
    undecided: int  # of which nothing is known
    largest_share: float  # of the bound, among the elements inside
    worst: list[Element]  # those outside first
    error: str = ""  # there is nothing to compare: why

    @property
    def ok(self) -> bool:
        return not self.error and self.outside == 0

    def __str__(self) -> str:
        name = self.path or "result"
        if self.error:
            return f"{name}: {self.error}"
        text = (f"{name}: {self.elements} elements, {self.inside} inside, {self.outside} outside, {self.undecided} undecided")
        if self.largest_share > 0:
            text += f"; inside up to {self.largest_share:.2g} of the bound"
        for element in self.worst:
            if element.share <= 1:
                break
            text += (f"\n  outside {list(element.index)}: exact {element.exact}, actual {element.actual} ({element.ulps} ulps), "
                     f"bound +-{element.radius:.6g}")
        return text


@dataclasses.dataclass(frozen=True)
class BoundsReport:
    """One OutputBounds for each output, in order."""

    profile: str
    outputs: list[OutputBounds]
    undecided_from: list[tuple[str, str, str]]  # instruction, operation, why nothing is known of its result

    @property
    def ok(self) -> bool:
        """True if no element is proven to be outside and no output is missing;
        undecided ones do not count."""
        return all(output.ok for output in self.outputs)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [str(output) for output in self.outputs]
        lines += [f"undecided from '%{name} = {op}' on: {why}" for name, op, why in self.undecided_from]
        return "\n".join(lines)


def diff(program, inputs, actual, *, profile: str = "strict", engine: str = "exact", jobs: int = 0,
         max_steps: int = 0,
         memory_limit: int = 0, timeout: float = 0, seed: int = 42,
         html: str | os.PathLike | None = None) -> BoundsReport:
    """Whether a backend's outputs are what a correct one may return for these inputs.

    program: a Module, or what load() takes. inputs: the arguments in order (tuples of
    arrays for tuple parameters), a dict by the names of .npz files ("arg0", "arg1.0"), or the path of such a
    file. actual: the output, a tuple of outputs where the root is a tuple, a dict by name ("out0"), or the
    path of an .npz file. profile: what the backend is allowed, "strict", "xla-cpu", "xla-gpu",
    "xla-gpu-tf32", "tpu-bf16" or the path of a file. html: a page to write that shows it all
    (docs/bounds.md). The rest is as of Module.evaluate().
    """
    module = program if isinstance(program, Module) else load(program)
    options = _options(engine, "off", jobs, max_steps, memory_limit, timeout, seed)
    return report_of(module, _inputs(inputs), _outputs(actual, module), profile, options, html=html)


def report_of(module: Module, inputs: dict, actual: dict, profile: str, options, paths=None,
              html=None) -> BoundsReport:
    """Inputs and outputs are leaves by key; `paths` are names of the outputs in order,
    for who reads the report."""
    with translated():
        found = module._module.diff(inputs, actual, os.fspath(profile), options,
                                    "" if html is None else os.fspath(html))
    outputs = []
    for k, output in enumerate(found["outputs"]):
        output["worst"] = [Element(*element) for element in output["worst"]]
        key = output.pop("key")
        outputs.append(OutputBounds(path=key if paths is None else paths[k], **output))
    return BoundsReport(os.fspath(profile), outputs, found["undecided_from"])


def _inputs(inputs) -> dict:
    if isinstance(inputs, (str, os.PathLike)):
        return _stored(inputs)
    return _named(inputs) if isinstance(inputs, dict) else _leaves(inputs)


def _outputs(actual, module: Module) -> dict:
    if isinstance(actual, (str, os.PathLike)):
        return _stored(actual)
    if isinstance(actual, dict):
        return _named(actual)
    leaves: dict[str, tuple] = {}
    for k, value in enumerate(actual if isinstance(module.result, list) else [actual]):
        _flatten(f"out{k}", value, leaves)
    return leaves


def _named(arrays: dict) -> dict:
    leaves: dict[str, tuple] = {}
    for key, value in arrays.items():
        _flatten(key, value, leaves)
    return leaves


def _stored(path) -> dict:
    with np.load(path) as arrays:
        # Assay's own files say in a member's comment what raw bytes are.
        types = {info.filename.removesuffix(".npy"): info.comment.decode("ascii", "replace")
                 for info in arrays.zip.infolist()}
        return _named({key: _typed(arrays[key], types.get(key, "")) for key in arrays.files})


def _typed(array: np.ndarray, element_type: str) -> np.ndarray:
    dtype = DTYPES.get(element_type)
    raw = dtype is not None and array.dtype.kind in "Vu" and array.dtype.itemsize == dtype.itemsize
    return array.view(dtype) if raw else array
