"""Programs, loaded and verified, and their evaluation on NumPy arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from assay import _assay
from assay._errors import translated
from assay._types import descriptor, dtype_of, element_type

Array = Any  # np.ndarray, or anything that np.asarray takes, such as a jax.Array


def load(program: str | bytes | os.PathLike, *, name: str | None = None, lapack: bool = False) -> "Module":
    """A program from a path, from its text, or from its bytes.

    A string is a path if a file of that name exists, else it is the program's text. `name` is what error
    messages call the program. `lapack`: decompositions by the machine's LAPACK, whose bytes depend on the
    library. Raises InvalidProgram or NotSupported.
    """
    if isinstance(program, os.PathLike) or (isinstance(program, str) and _is_file(program)):
        path = os.fspath(program)
        with open(path, "rb") as file:
            return Module(file.read(), name or path, lapack)
    data = program.encode() if isinstance(program, str) else bytes(program)
    return Module(data, name or "<program>", lapack)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def sample_key(seed: int) -> np.uint32:
    """What a sampled program (Module.sampled) takes for the seed, that is `--seed` of `assay diff`."""
    return np.uint32(_assay.key_of_seed(seed))


def _is_file(text: str) -> bool:
    return "\n" not in text and "\0" not in text and len(text) < 4096 and os.path.exists(text)


class Module:
    """A verified program. Evaluating it changes nothing in it; several threads may do so at once."""

    def __init__(self, program: bytes, name: str = "<program>", lapack: bool = False):
        with translated():
            self._module = _assay.Module(name, program, lapack)

    @property
    def parameters(self) -> list:
        """Of each parameter ("f32", (2, 3)); a list for a tuple, None for a token or, of sizes,
        for a free dimension."""
        return self._module.parameters()

    @property
    def result(self):
        """The same of the result."""
        return self._module.result()

    def to_hlo(self) -> str:
        """Canonical HLO text, which XLA's own parser accepts. Raises NotSupported
        where dimensions are free."""
        with translated():
            return self._module.to_hlo()

    def to_mlir(self) -> str:
        """StableHLO text, which jaxlib's parser accepts. Raises NotSupported for what StableHLO can't say."""
        with translated():
            return self._module.to_mlir()

    def to_proto(self) -> bytes:
        """The bytes of an HloModuleProto. Raises NotSupported for what the message has no place for."""
        with translated():
            return self._module.to_proto()

    def sampled(self, profile: str) -> "Module":
        """The program as conforming backends may run it, sampled (docs/bounds.md, Estimates): it takes
        sample_key(seed) behind its arguments, and each seed is another backend. Raises NotSupported where
        dimensions are free."""
        made = Module.__new__(Module)
        with translated():
            made._module = self._module.sampled(os.fspath(profile))
        return made

    def __repr__(self) -> str:
        return f"<assay.Module: {self._module.describe_inputs() or 'takes nothing'}>"

    def evaluate(self, *arrays: Array, engine: str = "exact", crosscheck: str = "off", jobs: int = 0,
                 max_steps: int = 0, memory_limit: int = 0, timeout: float = 0, seed: int = 42):
        """The exact result: an array, or nested tuples of arrays where the program's root is a tuple.

        Arguments are arrays in the order of the parameters, tuples of arrays for tuple parameters. Their
        dtypes must be those of the parameters (bf16 and its like: ml_dtypes). engine: "exact", "fast", "gpu",
        "gpu-fast" or "reference"; crosscheck: "off", "sample" or "full"; jobs: threads, 0 for one a core;
        max_steps, memory_limit (bytes) and timeout (seconds) end a run that needs more. C-contiguous
        arguments are not copied, and results own their memory.
        """
        leaves = _leaves(arrays)
        options = _options(engine, crosscheck, jobs, max_steps, memory_limit, timeout, seed)
        with translated():
            results = self._module.evaluate(leaves, options)
        return self._result_of(results)

    def evaluate_devices(self, arrays: list, *, replicas: int = 0, partitions: int = 0, engine: str = "exact",
                         crosscheck: str = "off", jobs: int = 0, max_steps: int = 0, memory_limit: int = 0,
                         timeout: float = 0, seed: int = 42) -> list:
        """The results of each device, as those of evaluate(): of replica r and partition p number r *
        partitions + p.

        `arrays` holds the arguments of each device, in that order: arrays[d] is what evaluate() would take. A
        stacked array, with a leading axis of devices, is list(stacked) of one argument: [(a,) for a in
        stacked]. replicas and partitions: 0 for as many as the program says, or names in its groups. A
        program with manual regions (JAX's shard_map before partitioning) works on whole values: it takes one
        tuple of arguments and gives one result.
        """
        options = _options(engine, crosscheck, jobs, max_steps, memory_limit, timeout, seed)
        with translated():
            of_replicas, of_partitions = self._module.grid(replicas, partitions)
        leaves: dict[str, tuple] = {}
        if len(arrays) == 1:
            leaves = _leaves(arrays[0])
        elif len(arrays) != of_replicas * of_partitions:
            raise ValueError(f"arguments for {_counted(len(arrays), 'device')}, the program runs on "
                             f"{_counted(of_replicas, 'replica')} of {_counted(of_partitions, 'partition')}")
        else:
            for device, arguments in enumerate(arrays):
                leaves |= _leaves(arguments, f"r{device // of_partitions}p{device % of_partitions}/")
        with translated():
            results = self._module.evaluate_devices(leaves, options, replicas, partitions)
        return [self._result_of(device) for device in results]

    def _result_of(self, results):
        return _unflatten(self.result, iter([_to_numpy(*leaf) for leaf in results]))


def _options(engine, crosscheck, jobs, max_steps, memory_limit, timeout, seed):
    options = _assay.Options()
    options.engine, options.crosscheck, options.jobs, options.seed = engine, crosscheck, jobs, seed
    options.max_steps, options.memory_limit, options.timeout = max_steps, memory_limit, timeout
    return options


def _leaves(arrays, prefix: str = "", name: str = "arg") -> dict:
    leaves: dict[str, tuple] = {}
    for number, value in enumerate(arrays):
        _flatten(f"{prefix}{name}{number}", value, leaves)
    return leaves


def _flatten(key: str, value, leaves: dict) -> None:
    if isinstance(value, (tuple, list)):
        for i, element in enumerate(value):
            _flatten(f"{key}.{i}", element, leaves)
        return
    array = np.asarray(value)
    sizes = list(array.shape)  # ascontiguousarray makes a scalar one-dimensional
    array = np.ascontiguousarray(array)
    leaves[key] = (descriptor(array.dtype), element_type(array.dtype), sizes,
                   array.reshape(-1).view(np.uint8))


def _to_numpy(key: str, element_type: str, sizes: tuple, data) -> np.ndarray:
    return np.frombuffer(data, np.uint8).view(dtype_of(element_type)).reshape(sizes)


def _unflatten(shape, leaves):
    if isinstance(shape, list):
        return tuple(_unflatten(element, leaves) for element in shape)
    return None if shape is None else next(leaves)
