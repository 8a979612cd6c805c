"""Training runs held against those of sampled conforming backends (docs/jax.md, docs/bounds.md)."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import Any, Callable, Iterable

import numpy as np

from assay._jax import _as_parameter, _jax, _Lowered, _plain
from assay._module import sample_key
from assay._types import dtype_of

# As those of elements without a bound (check/samples.h): a loss is implausible beyond this multiple of the
# samples' spread, and nothing is said of it where that is more than a quarter of it.
MULTIPLE = 16
CHAOTIC_SHARE = 0.25
# The last rounding of the exact loss, and of the backend's.
FLOOR_ULPS = 2


@dataclasses.dataclass(frozen=True)
class TrainingStep:
    """The loss of one step."""

    number: int  # from 0
    actual: float  # the backend's
    exact: float  # of the run in which every operation is exact and rounded once
    low: float  # the smallest and the largest of the samples, which are numbers
    high: float
    spread: float  # the largest distance of a sample from the exact loss
    share: float  # the backend's distance as a share of the largest plausible one; inf: no sample is like it
    verdict: str  # "plausible", "implausible", or "undecided" where the samples disagree wildly


@dataclasses.dataclass(frozen=True)
class TrainingReport:
    """One TrainingStep for each step, in order."""

    profile: str
    samples: int
    steps: list[TrainingStep]

    @property
    def first_implausible(self) -> int | None:
        """The number of the first step whose loss is implausible; None: there is none."""
        return next((s.number for s in self.steps if s.verdict == "implausible"), None)

    @property
    def ok(self) -> bool:
        """No step's loss is implausible."""
        return self.first_implausible is None

    def __bool__(self) -> bool:
        return self.ok

    def count(self, verdict: str) -> int:
        return sum(step.verdict == verdict for step in self.steps)

    def __str__(self) -> str:
        first, last = self.steps[0], self.steps[-1]
        lines = [f"{len(self.steps)} steps by profile {self.profile}, {self.samples} samples: "
                 f"{self.count('plausible')} plausible, {self.count('implausible')} implausible, "
                 f"{self.count('undecided')} undecided; loss {first.actual:.6g} to {last.actual:.6g}"]
        leaves = self.first_implausible
        apart = max(10, len(self.steps) // 100 * 10)
        shown = {0, 1, 2, 5, *range(10, len(self.steps), apart), last.number}
        if leaves is not None:
            lines.append(f"implausible from step {leaves} on")
            shown |= {leaves - 1, leaves}
        lines.append(f"{'step':>6} {'loss':>14} {'exact':>14} {'distance':>10} {'spread':>10} {'share':>8}  verdict")
        for step in self.steps:
            if step.number in shown:
                distance = abs(step.actual - step.exact)
                lines.append(f"{step.number:6} {step.actual:14.8g} {step.exact:14.8g} {distance:10.2g} "
                             f"{step.spread:10.2g} {step.share:8.2g}  {step.verdict}")
        return "\n".join(lines)

    def to_json(self) -> str:
        """The properties by their names, and "steps", a list with the fields of each TrainingStep; numbers
        that JSON lacks are null."""
        steps = [{key: _finite(value) for key, value in dataclasses.asdict(step).items()}
                 for step in self.steps]
        return json.dumps({"profile": self.profile, "samples": self.samples, "multiple": MULTIPLE,
                           "ok": self.ok, "first_implausible": self.first_implausible, "steps": steps})

    def to_svg(self) -> str:
        """The curves of the loss, and of distances from the exact one, as a picture."""
        from assay._training_svg import drawn
        return drawn(self, MULTIPLE)

    def write_svg(self, path: str | os.PathLike) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_svg())


def check_training(step: Callable, state: Any, batches: Iterable | Callable[[int], Any], *, profile: str,
                   steps: int | None = None, samples: int = 16, seed: int = 42,
                   backend: Callable | None = None,
                   options: dict | None = None) -> TrainingReport:
    """Whether a training run is one that a correct backend may give.

    step(state, batch) -> (state, loss) is a JAX function, as of jax.lax.scan: one step of training, which
    carries a pytree on and returns a scalar. `batches` has the second argument of each step: an iterable, or
    a function of the step's number, with `steps`, how many there are. The run of `backend`, by default
    jax.jit(step) on JAX's default device, is held against Assay's exact run and against `samples` of
    conforming backends by the profile ("xla-cpu", …: docs/bounds.md), of which each carries its own state on.
    A step's loss is implausible where it is farther from the exact run's than 16 times the farthest sample's.
    This is an estimate, no proof. `options` are those of Module.evaluate.
    """
    jax = _jax()
    if samples < 1:
        raise ValueError(f"samples is {samples}, wanted 1 or more")
    given = _batches(batches, steps)
    try:
        first = next(given)
    except StopIteration:
        raise ValueError("there are no batches") from None
    lowered = _Lowered(step, (state, first), {})
    carried = _carried(jax, lowered, state)
    sampled = lowered.module.sampled(profile)
    run = backend if backend is not None else jax.jit(step)
    settings = {**(options or {})}
    # The exact run, and the samples: the leaves of each one's state.
    leaves = [_as_parameter(leaf, parameter)
              for leaf, parameter in zip(jax.tree_util.tree_leaves(state), lowered.module.parameters)]
    exact_state, sample_states = leaves, [leaves] * samples
    found = []
    for number, batch in enumerate(_with_first(first, given)):
        batch_leaves = [_as_parameter(leaf, parameter) for leaf, parameter in
                        zip(jax.tree_util.tree_leaves(batch), lowered.module.parameters[carried:])]
        state, loss = run(state, batch)
        exact = lowered.module.evaluate(*exact_state, *batch_leaves, **settings)
        exact_state = list(exact[:carried])
        losses = []
        for k in range(samples):
            result = sampled.evaluate(*sample_states[k], *batch_leaves, sample_key(seed + k), **settings)
            sample_states[k] = list(result[:carried])
            losses.append(float(result[carried]))
        value = exact[carried]
        found.append(_judged(number, float(_plain(loss)), float(value), losses, value.dtype))
    return TrainingReport(os.fspath(profile), samples, found)


def _batches(batches, steps: int | None):
    if callable(batches):
        if steps is None:
            raise ValueError("batches is a function: steps says of how many steps")
        return (batches(number) for number in range(steps))
    given = iter(batches)
    return given if steps is None else (batch for _, batch in zip(range(steps), given))


def _with_first(first, others):
    yield first
    yield from others


def _carried(jax, lowered: _Lowered, state) -> int:
    """How many leaves the state has; ValueError where the step is none."""
    tree = jax.tree_util.tree_structure(state)
    parts = lowered.out_tree.children()
    loss = lowered.module.result[-1] if isinstance(lowered.module.result, list) else None
    if len(parts) != 2 or parts[0] != tree or parts[1].num_leaves != 1:
        raise ValueError(f"the step returns {lowered.out_tree}, wanted (state, loss), the state as it was "
                         f"given: {tree}")
    if tuple(loss[1]) != () or dtype_of(loss[0]).kind not in "fV":
        raise ValueError(f"the loss is {loss[0]}{list(loss[1])}, wanted a floating-point number")
    taken, given = lowered.module.parameters[:tree.num_leaves], lowered.module.result[:-1]
    for before, after in zip(taken, given):
        if before != after:
            raise ValueError(f"the step takes {before[0]}{list(before[1])} and carries {after[0]}{list(after[1])} on")
    return tree.num_leaves


def _judged(number: int, actual: float, exact: float, losses: list[float], dtype) -> TrainingStep:
    numbers = [loss for loss in losses if math.isfinite(loss)]
    low, high = min(numbers, default=math.nan), max(numbers, default=math.nan)
    if not (math.isfinite(actual) and math.isfinite(exact)):
        # One that is no number is as good as the exact one or a sample of its kind.
        same = any(_same_kind(actual, other) for other in [exact, *losses])
        spread = math.inf if len(numbers) < len(losses) else high - low
        return TrainingStep(number, actual, exact, low, high, spread, 0.0 if same else math.inf,
                            "plausible" if same else "implausible")
    spread = max((abs(loss - exact) for loss in numbers), default=math.inf)
    allowed = max(MULTIPLE * spread, FLOOR_ULPS * _ulp(exact, dtype))
    distance = abs(actual - exact)
    share = distance / allowed if allowed > 0 else (math.inf if distance > 0 else 0.0)
    verdict = "plausible"
    if share > 1:
        verdict = "implausible"
    elif spread > CHAOTIC_SHARE * abs(exact) or len(numbers) < len(losses):
        verdict = "undecided"
    return TrainingStep(number, actual, exact, low, high, spread, share, verdict)


def _same_kind(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or (math.isfinite(a) and math.isfinite(b))


def _ulp(value: float, dtype) -> float:
    import ml_dtypes
    info = ml_dtypes.finfo(dtype)
    magnitude = max(abs(value), float(info.smallest_normal))
    return 2.0**math.floor(math.log2(magnitude)) * float(info.eps)


def _finite(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value
