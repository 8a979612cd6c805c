"""Holding a backend's results against what a correct one may return (docs/bounds.md)."""

from __future__ import annotations

import dataclasses
import os
import shlex

import numpy as np

from assay import _assay
from assay._errors import translated
from assay._module import Module, _flatten, _is_file, _leaves, _options, load
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
class Estimated:
    """An element that no bound decides, and that is farther from the exact value than sampled backends
    are."""

    index: tuple[int, ...]
    exact: str
    actual: str
    ulps: int  # from exact to actual
    spread: float  # the largest distance of a sample from the exact value
    share: float  # the distance as a share of the largest plausible one; inf: no sample is like it
    distance: float = 0  # of the actual value; inf: no sample is like it
    allowed: float = 0  # the largest distance that is plausible


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why elements of an output are not decided by proof, and what to do next."""

    output: str  # as OutputBounds.path
    instruction: str  # the first one from which nothing is proven; "": not known, why says why
    op: str
    inside: str  # the call, branch or loop that it stands in; "": the entry computation
    iteration: int | None  # of the loop
    why: str
    plausible: int  # elements that nothing is proven of, by verdict
    implausible: int
    undecided: int
    lacks_rule: bool  # bounds have no rule for this operation on these operands
    next: str  # what to do
    text: str  # all of it in words, but for the next step
    samples_part: str = ""  # where samples that disagree wildly part, in words

    def __str__(self) -> str:
        lines = [f"{self.output or 'result'}: {self.text}"]
        if self.samples_part:
            lines.append(f"  {self.samples_part}")
        return "\n".join([*lines, f"  next: {self.next}"])


@dataclasses.dataclass(frozen=True)
class OutputBounds:
    """How one output lies in its bounds."""

    # where it lies in the function's result, such as "[0]['w']"; of programs the key, such as "out0"
    path: str
    elements: int
    inside: int
    outside: int  # proven violations
    undecided: int  # of which nothing is known, and on which samples disagree wildly
    largest_share: float  # of the bound, among the elements inside
    worst: list[Element]  # those outside first
    error: str = ""  # there is nothing to compare: why
    plausible: int = 0  # estimated: near what sampled backends return
    implausible: int = 0  # estimated: far from it
    # Implausible ones, the farthest first.
    farthest: list[Estimated] = dataclasses.field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No element is outside or implausible."""
        return self.ok_as_proven and self.implausible == 0

    @property
    def ok_as_proven(self) -> bool:
        """No element is outside: what is estimated does not count."""
        return not self.error and self.outside == 0

    def __str__(self) -> str:
        name = self.path or "result"
        if self.error:
            return f"{name}: {self.error}"
        text = f"{name}: {self.elements} elements, {self.inside} inside, {self.outside} outside"
        if self.plausible or self.implausible:
            text += f", {self.plausible} plausible, {self.implausible} implausible"
        text += f", {self.undecided} undecided"
        if self.largest_share > 0:
            text += f"; inside up to {self.largest_share:.2g} of the bound"
        for element in self.worst:
            if element.share <= 1:
                break
            text += (f"\n  outside {list(element.index)}: exact {element.exact}, actual {element.actual} ({element.ulps} ulps), "
                     f"bound +-{element.radius:.6g}")
        for estimated in self.farthest:
            text += (f"\n  implausible {list(estimated.index)}: exact {estimated.exact}, actual {estimated.actual} "
                     f"({estimated.ulps} ulps), ")
            text += ("no sample is like it" if estimated.distance == float("inf") else
                     f"{estimated.distance:.3g} off where {estimated.allowed:.3g} is plausible")
        return text


@dataclasses.dataclass(frozen=True)
class BoundsReport:
    """One OutputBounds for each output, in order."""

    profile: str
    outputs: list[OutputBounds]
    undecided_from: list[tuple[str, str, str]]  # instruction, operation, why no bound of its result is known
    samples: int = 0  # of conforming backends, that elements without a bound are held against
    # One for each output with plausible, implausible or undecided elements.
    reasons: list[Reason] = dataclasses.field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if no element is outside or implausible and no output is missing; undecided ones do not
        count."""
        return all(output.ok for output in self.outputs)

    @property
    def ok_as_proven(self) -> bool:
        """The same of what is proven alone: implausible elements do not count either."""
        return all(output.ok_as_proven for output in self.outputs)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [str(output) for output in self.outputs]
        lines += [str(reason) for reason in self.reasons]
        return "\n".join(lines)


def diff(program, inputs, actual, *, profile: str = "strict", engine: str = "exact", jobs: int = 0,
         max_steps: int = 0,
         memory_limit: int = 0, timeout: float = 0, seed: int = 42, html: str | os.PathLike | None = None,
         samples: int = 16) -> BoundsReport:
    """Whether a backend's outputs are what a correct one may return for these inputs.

    program: a Module, or what load() takes. inputs: the arguments in order (tuples of arrays for tuple
    parameters), a dict by the names of .npz files ("arg0", "arg1.0"), or the path of such a file. actual: the
    output, a tuple of outputs where the root is a tuple, a dict by name ("out0"), or the path of an .npz
    file. profile: what the backend is allowed, "strict", "xla-cpu", "xla-gpu", "xla-gpu-tf32", "tpu-bf16" or
    the path of a file. html: a page to write that shows it all (docs/bounds.md). samples: how many conforming
    backends are sampled where bounds decide nothing; 0: none. The rest is as of Module.evaluate().
    """
    module = program if isinstance(program, Module) else load(program)
    options = _options(engine, "off", jobs, max_steps, memory_limit, timeout, seed)
    command = _isolate_command(program, inputs, profile)
    return report_of(module, _inputs(inputs), _outputs(actual, module), profile, options, html=html,
                     samples=samples, isolate_command=command)


def _isolate_command(program=None, inputs=None, profile="strict") -> str:
    """What checks every instruction alone, with the paths that were given."""
    path = program if isinstance(program, os.PathLike) or (isinstance(program, str) and
                                                           _is_file(program)) else "program.hlo"
    arrays = inputs if isinstance(inputs, (str, os.PathLike)) else "in.npz"
    path, arrays, table = (shlex.quote(os.fspath(p)) for p in (path, arrays, profile))
    return (f"assay diff {path} --inputs {arrays} --backend 'YOUR_BACKEND {{program}} {{inputs}} {{outputs}}' "
            f"--profile {table} --isolate")


def report_of(module: Module, inputs: dict, actual: dict, profile: str, options, paths=None,
              html=None, samples: int = 16, isolate_command: str = "") -> BoundsReport:
    """Inputs and outputs are leaves by key; `paths` are names of the outputs in order, for who reads the
    report."""
    with translated():
        found = module._module.diff(inputs, actual, os.fspath(profile), options,
                                    "" if html is None else os.fspath(html),
                                    samples, isolate_command or _isolate_command(profile=profile))
    names = {}
    outputs = []
    for k, output in enumerate(found["outputs"]):
        output["worst"] = [Element(*element) for element in output["worst"]]
        output["farthest"] = [Estimated(*element) for element in output["farthest"]]
        key = output.pop("key")
        names[key] = key if paths is None else paths[k]
        outputs.append(OutputBounds(path=names[key], **output))
    reasons = [Reason(**{**reason, "output": names[reason["output"]]}) for reason in found["reasons"]]
    return BoundsReport(os.fspath(profile), outputs, found["undecided_from"], found["samples"], reasons)


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
