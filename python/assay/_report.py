"""Comparing arrays in units in the last place."""

from __future__ import annotations

import dataclasses

import numpy as np

from assay._types import NAMES

_INTEGER = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


@dataclasses.dataclass(frozen=True)
class LeafReport:
    """How one output differs from the exact one."""

    path: str  # where it lies in the function's result, such as "[0]['w']"; "" for a bare array
    dtype: str
    elements: int
    different: int  # elements whose bits differ (two NaNs are the same)
    max_ulps: int  # the largest distance in units in the last place; -1 where exactly one is NaN
    where: tuple[int, ...] | None  # index of the element with the largest distance
    actual: str
    exact: str

    def __str__(self) -> str:
        name = f"{self.path or 'result'} {self.dtype}"
        if self.different == 0:
            return f"{name}: {self.elements} elements, all equal"
        distance = "NaN against a number" if self.max_ulps < 0 else f"{self.max_ulps} ulp"
        at = "" if not self.where else "[" + ", ".join(map(str, self.where)) + "]"
        return (f"{name}: {self.different} of {self.elements} elements differ, at most {distance}"
                f" at {at or 'the only element'}: actual {self.actual}, exact {self.exact}")


@dataclasses.dataclass(frozen=True)
class Report:
    """One LeafReport for each output, in order."""

    leaves: list[LeafReport]

    @property
    def max_ulps(self) -> int:
        """The largest distance of all; -1 if somewhere exactly one of the two is NaN."""
        if any(leaf.max_ulps < 0 for leaf in self.leaves):
            return -1
        return max((leaf.max_ulps for leaf in self.leaves), default=0)

    def within(self, ulps: int) -> bool:
        """True if no element is further than `ulps` from the exact one."""
        return 0 <= self.max_ulps <= ulps

    def __str__(self) -> str:
        return "\n".join(map(str, self.leaves))


def ulp_distances(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How many representable values lie between, element for element, in int64; -1 where exactly one is NaN.

    Integers and predicates: the difference. Complex numbers: the larger of the two components' distances.
    Distances that int64 does not hold are its largest value.
    """
    if np.issubdtype(actual.dtype, np.complexfloating):
        return _worse(ulp_distances(actual.real, exact.real), ulp_distances(actual.imag, exact.imag))
    result = np.zeros(actual.shape, np.int64)
    differs = actual != exact
    if not differs.any():
        return result
    a, b = actual[differs], exact[differs]
    if _is_integer(actual.dtype):
        result[differs] = _apart(a.astype(object), b.astype(object))
        return result
    nan_a, nan_b = np.isnan(a.astype(np.float64)), np.isnan(b.astype(np.float64))
    distance = _apart(_ordered(a), _ordered(b))
    result[differs] = np.where(nan_a & nan_b, 0, np.where(nan_a | nan_b, -1, distance))
    return result


def _is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "biu" or NAMES.get(dtype, "").startswith(("s", "u"))


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.minimum(np.abs(a - b), np.iinfo(np.int64).max).astype(np.int64)


def _worse(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a < 0) | (b < 0), -1, np.maximum(a, b))


def _ordered(values: np.ndarray) -> np.ndarray:
    """Floats as Python integers in their order, consecutive values one apart, both zeros 0."""
    width = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(_INTEGER[width]).astype(object)
    name = NAMES.get(values.dtype)
    if name == "f8e8m0fnu":
        return bits & 0xFF
    sign = {"f4e2m1fn": 0x8, "f6e2m3fn": 0x20, "f6e3m2fn": 0x20}.get(name)
    if sign is not None:
        return np.where((bits & sign) != 0, -(bits & (sign - 1)), bits & (sign - 1))
    return np.where(bits < 0, -(1 << (8 * width - 1)) - bits, bits)


def compare(actual, exact, path: str = "") -> LeafReport:
    """The report of two arrays of one dtype and shape."""
    actual, exact = np.asarray(actual), np.asarray(exact)
    if actual.dtype != exact.dtype or actual.shape != exact.shape:
        raise ValueError(f"{path or 'result'}: actual is {actual.dtype}{list(actual.shape)}, exact "
                         f"{exact.dtype}{list(exact.shape)}")
    if actual.dtype.kind == "V" and actual.dtype not in NAMES:
        raise ValueError(f"{path or 'result'}: {actual.dtype} is raw bytes of unknown type: view them as what they are, for example "
                         "array.view(ml_dtypes.bfloat16)")
    dtype = NAMES.get(actual.dtype, str(actual.dtype))
    if actual.size == 0:
        return LeafReport(path, dtype, 0, 0, 0, None, "", "")
    distances = np.asarray(ulp_distances(actual, exact))
    different = int(np.count_nonzero(distances))
    flat = distances.reshape(-1)
    unordered = np.flatnonzero(flat < 0)
    worst = int(unordered[0]) if unordered.size else int(np.argmax(flat))
    where = tuple(int(i) for i in np.unravel_index(worst, distances.shape))
    return LeafReport(path, dtype, actual.size, different, int(flat[worst]), where,
                      repr(actual[where].item()), repr(exact[where].item()))
