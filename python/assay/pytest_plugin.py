"""A pytest fixture for golden outputs.

    def test_loss(golden):
        # Compared bit for bit with golden/loss.npz beside the test.
        golden.check("loss", assay.evaluate(loss)(x))

`pytest --assay-update` records instead of comparing. An output that was never recorded fails the test.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from assay._report import Report, compare
from assay._types import DTYPES, NAMES


def pytest_addoption(parser):
    parser.getgroup("assay").addoption("--assay-update", action="store_true",
                                       help="record golden outputs instead of comparing with them")


class Golden:
    """Golden outputs of one test file, in the folder `golden` beside it."""

    def __init__(self, folder: pathlib.Path, update: bool):
        self._folder, self._update = folder, update

    def check(self, name: str, value, ulps: int = 0) -> None:
        """Compares arrays (or nested tuples, lists and dicts of them) with what was recorded under `name`."""
        path = self._folder / f"{name}.npz"
        leaves = dict(_leaves("out", value))
        if self._update:
            self._folder.mkdir(exist_ok=True)
            np.savez(path,
                     **{f"{key}:{NAMES.get(a.dtype, a.dtype.str)}": _stored(a) for key, a in leaves.items()})
            return
        if not path.exists():
            pytest.fail(f"{path} does not exist; record it with pytest --assay-update", pytrace=False)
        with np.load(path) as file:
            wanted = dict(_restored(key, file[key]) for key in file.files)
        if wanted.keys() != leaves.keys():
            pytest.fail(f"{path} has {sorted(wanted)}, the test gives {sorted(leaves)}", pytrace=False)
        report = Report([compare(leaves[key], exact, key) for key, exact in wanted.items()])
        if not report.within(ulps):
            pytest.fail(f"{path}: further off than {ulps} ulp\n{report}", pytrace=False)


def _leaves(key, value):
    if isinstance(value, dict):
        for name, element in value.items():
            yield from _leaves(f"{key}.{name}", element)
    elif isinstance(value, (tuple, list)):
        for i, element in enumerate(value):
            yield from _leaves(f"{key}.{i}", element)
    else:
        yield key, np.asarray(value)


# .npz files know no dtype of ml_dtypes: stored as unsigned integers, the name of the type in the key.
def _stored(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" else array


def _restored(key: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    name, _, element_type = key.rpartition(":")
    return name, array.view(DTYPES[element_type]) if element_type in DTYPES else array


@pytest.fixture
def golden(request) -> Golden:
    return Golden(request.path.parent / "golden", request.config.getoption("--assay-update"))
