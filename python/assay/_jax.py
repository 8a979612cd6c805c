"""JAX functions: traced and lowered by JAX, evaluated by Assay.
JAX is imported when one of these is called."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from assay._bounds import BoundsReport, report_of
from assay._errors import ComparisonFailed
from assay._module import Module, _leaves, _options, load
from assay._report import Report, compare
from assay._types import dtype_of


def _jax():
    try:
        import jax
    except ImportError as error:
        raise ImportError("assay.evaluate, check and assert_matches take JAX functions and need jax: "
                          "pip install jax") from error
    return jax


class _Lowered:
    """A JAX function at given arguments, as a module, with what it takes to get its inputs and outputs."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict):
        jax = _jax()
        # JAX drops unused arguments unless told not to; here each one is a parameter.
        lowered = jax.jit(function, keep_unused=True).lower(*args, **kwargs)
        text = lowered.compiler_ir(dialect="hlo").as_hlo_text(print_large_constants=True)
        self.module: Module = load(text, name=getattr(function, "__name__", "jax_function"))
        self.out_tree = jax.tree_util.tree_structure(lowered.out_info)

    def arguments(self, args: tuple, kwargs: dict) -> list[np.ndarray]:
        leaves = _jax().tree_util.tree_leaves((args, kwargs))
        return [_as_parameter(leaf, parameter) for leaf, parameter in zip(leaves, self.module.parameters)]

    def result(self, value) -> Any:
        leaves = list(value) if isinstance(value, tuple) else [value]
        return _jax().tree_util.tree_unflatten(self.out_tree, leaves)


def _as_parameter(leaf, parameter) -> np.ndarray:
    """A Python scalar takes the type that JAX gave the parameter; typed random keys become their words."""
    jax = _jax()
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf, dtype=dtype_of(parameter[0]))


def lower(function: Callable) -> Callable[..., Module]:
    """lower(f)(*args) is the program that JAX makes of f for arguments of these shapes and dtypes."""

    @functools.wraps(function)
    def lowered(*args, **kwargs) -> Module:
        return _Lowered(function, args, kwargs).module

    return lowered


def evaluate(function: Callable, **options) -> Callable:
    """evaluate(f)(*args) is what f means, exactly: the pytree that f returns, with NumPy arrays as leaves.

    `options` are those of Module.evaluate (engine, crosscheck, jobs, max_steps, memory_limit, timeout, seed).
    """

    @functools.wraps(function)
    def evaluated(*args, **kwargs):
        lowered = _Lowered(function, args, kwargs)
        return lowered.result(lowered.module.evaluate(*lowered.arguments(args, kwargs), **options))

    return evaluated


def check(function: Callable, *args, profile: str | None = None, options: dict | None = None,
          samples: int = 16, **kwargs) -> Report | BoundsReport:
    """Runs the function on JAX's default backend and on Assay, and says how far apart each output is and
    where.

    With a profile ("xla-cpu", …: docs/bounds.md) the report says whether each element is what a correct
    backend of this kind may return: `.ok` is False where one is proven not to be, or is implausible by
    `samples` of conforming backends (0: none). The function is what JAX lowers it to; the backend may run it
    as it likes. Without one the report has distances in ulps. `options` are those of Module.evaluate.
    """
    jax = _jax()
    if profile is not None:
        return _check_bounds(function, args, kwargs, profile, options or {}, samples)
    exact = evaluate(function, **(options or {}))(*args, **kwargs)
    actual = jax.jit(function)(*args, **kwargs)
    pairs = zip(jax.tree_util.tree_leaves_with_path(actual), jax.tree_util.tree_leaves(exact))
    return Report([compare(_plain(a), e, jax.tree_util.keystr(path)) for (path, a), e in pairs])


def _check_bounds(function: Callable, args: tuple, kwargs: dict, profile: str, options: dict,
                  samples: int) -> BoundsReport:
    jax = _jax()
    lowered = _Lowered(function, args, kwargs)
    leaves = jax.tree_util.tree_leaves_with_path(jax.jit(function)(*args, **kwargs))
    actual = _leaves([_plain(leaf) for _, leaf in leaves], name="out")
    settings = _options(**{**_DEFAULTS, **options})
    return report_of(lowered.module, _leaves(lowered.arguments(args, kwargs)), actual, profile, settings,
                     [jax.tree_util.keystr(path) for path, _ in leaves], samples=samples)


_DEFAULTS = {"engine": "exact", "crosscheck": "off", "jobs": 0, "max_steps": 0, "memory_limit": 0,
             "timeout": 0, "seed": 42}


def _plain(leaf) -> np.ndarray:
    jax = _jax()
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def assert_matches(function: Callable, *args, ulps: int = 0, options: dict | None = None, **kwargs) -> Report:
    """check(), and ComparisonFailed (an AssertionError) with the report if an element is
    further off than `ulps`."""
    report = check(function, *args, options=options, **kwargs)
    if not report.within(ulps):
        raise ComparisonFailed(f"{getattr(function, '__name__', 'the function')} is further than {ulps} ulp from the "
                               f"exact result:\n{report}")
    return report
