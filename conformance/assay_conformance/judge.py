"""Whether a backend's outputs are what a conforming backend may give: the rule of docs/bounds.md.

An element is right if it is the exact value, or no farther from it than its radius and half an ulp of its
own (by which it may have been rounded last: no number of the type lies in between). NaN is right for NaN
alone and an infinity for itself alone. Elements that the specification leaves open, and those with an
infinite radius, are not judged.
"""

import dataclasses

import numpy as np

from .element_types import COMPONENTS, FORMATS, parse_shape, values

SHOWN = 5


@dataclasses.dataclass
class Verdict:
    judged: int = 0
    open: int = 0
    unbounded: int = 0
    wrong: int = 0
    zero_signs: int = 0  # right, but for the sign of a zero
    details: list = dataclasses.field(default_factory=list)
    error: str = ''  # there is nothing to compare: why

    @property
    def ok(self):
        return not self.error and self.wrong == 0


def half_ulp(numbers, form):
    """Half the distance to the next number of the format."""
    finite = np.isfinite(numbers) & (numbers != 0)
    exponent = np.frexp(np.where(finite, numbers, 1.0))[1] - 1
    exponent = np.maximum(exponent, form.min_exponent)
    return np.where(finite, np.ldexp(1.0, exponent - form.mantissa_bits - 1), form.min_subnormal / 2)


def _float_inside(exact, actual, radius, form):
    same = (exact == actual) | (np.isnan(exact) & np.isnan(actual))
    finite = np.isfinite(exact) & np.isfinite(actual)
    with np.errstate(all='ignore'):
        near = np.abs(actual - exact) <= radius + half_ulp(actual, form)
    return same | (finite & near)


def _complex_inside(exact, actual, radius, form):
    same, finite = np.ones(exact.shape, bool), np.ones(exact.shape, bool)
    allowed = np.array(radius, float)
    for e, a in ((exact.real, actual.real), (exact.imag, actual.imag)):
        same &= (e == a) | (np.isnan(e) & np.isnan(a))
        finite &= np.isfinite(e) & np.isfinite(a)
        allowed = allowed + half_ulp(a, form)
    with np.errstate(all='ignore'):
        distance = np.hypot(actual.real - exact.real, actual.imag - exact.imag)
    return same | (finite & (distance <= allowed))


def _integer_inside(exact, actual, radius):
    distance = [abs(int(e) - int(a)) for e, a in zip(exact.ravel(), actual.ravel())]
    return np.array(distance, dtype=object).reshape(exact.shape) <= radius


def _inside(exact, actual, radius, element):
    if element in COMPONENTS:
        return _complex_inside(exact, actual, radius, FORMATS[COMPONENTS[element]])
    if element in FORMATS:
        return _float_inside(exact, actual, radius, FORMATS[element])
    return (exact == actual) | (_integer_inside(exact, actual, radius) if np.any(radius > 0) else False)


def _within_ends(actual, low, high, element):
    """The values that can be reached lie on one side of the exact one, or nearer there."""
    room = 0.0
    numbers = actual.astype(float)
    if element in FORMATS:
        room = np.where(np.isfinite(numbers), half_ulp(numbers, FORMATS[element]), 0.0)
    with np.errstate(all='ignore'):
        return ~((numbers + room < low) | (numbers - room > high))


def _identical(exact, actual, element):
    """Equal with the sign of zeros; a NaN is any NaN."""
    if element in COMPONENTS:
        return _identical(exact.real, actual.real, 'f64') & _identical(exact.imag, actual.imag, 'f64')
    if element not in FORMATS:
        return exact == actual
    return ((exact == actual) &
            (np.signbit(exact) == np.signbit(actual))) | (np.isnan(exact) & np.isnan(actual))


def compare(shape, arrays, key, actual, profile, exact_only=False):
    """The verdict on one output; `actual` has raw bytes or the type's own NumPy type."""
    element, sizes = parse_shape(shape)
    exact = arrays[key]
    verdict = Verdict()
    if actual is None:
        verdict.error = f'{key}: the backend gave no such output'
    elif actual.shape != sizes:
        verdict.error = f'{key}: the backend gave an array of {actual.shape}, expected {shape}'
    elif actual.dtype.itemsize != exact.dtype.itemsize:
        verdict.error = f'{key}: the backend gave elements of {actual.dtype.itemsize} bytes, expected {shape}'
    if verdict.error:
        return verdict
    exact_values, actual_values = values(exact, element), values(actual, element)
    is_open = arrays.get(f'open/{key}', np.zeros(sizes, bool))
    radius = arrays.get(f'radius/{profile}/{key}', np.zeros(sizes))
    same = _identical(exact_values, actual_values, element)
    if exact_only:
        right, unbounded = same, np.zeros(sizes, bool)
    else:
        right = _inside(exact_values, actual_values, radius, element)
        low, high = arrays.get(f'low/{profile}/{key}'), arrays.get(f'high/{profile}/{key}')
        if low is not None and element not in COMPONENTS:
            right &= (exact_values == actual_values) | _within_ends(actual_values, low, high, element)
        unbounded = ~(radius < np.inf) & ~is_open
    judged = ~is_open & ~unbounded
    verdict.judged, verdict.open = int(judged.sum()), int(is_open.sum())
    verdict.unbounded = int(unbounded.sum())
    wrong = judged & ~np.asarray(right, bool)
    verdict.wrong = int(wrong.sum())
    if element in FORMATS or element in COMPONENTS:
        verdict.zero_signs = int((judged & ~wrong & ~same & (exact_values == actual_values)).sum())
    for index in np.argwhere(wrong)[:SHOWN]:
        index = tuple(index)
        verdict.details.append({
            'output': key, 'index': [int(i) for i in index], 'exact': str(exact_values[index]),
            'actual': str(actual_values[index]), 'radius': float(radius[index])})
    return verdict
