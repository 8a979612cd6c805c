"""Where Assay's and XLA:CPU's results of a program differ by more than rounding explains."""

import dataclasses

import numpy as np
from comparison import components, show, within_ulps
from values import NUMPY

ULPS = 4  # XLA:CPU's functions are this far off (docs/semantics.md)
NOISE_RUNS = 8
NOISE_FACTOR = 16
# of the largest element: backward stable, and both libraries are another's distance from the exact result
LAPACK_EPSILONS = 256
NAMES = {np.dtype(t): n for n, t in NUMPY.items()}


@dataclasses.dataclass
class Difference:
    result: int
    index: tuple
    assay: object
    xla: object
    tag: str
    count: int

    def __str__(self):
        index = list(map(int, self.index))
        return f'{self.count} of out{self.result}, as at {index}: assay {show(self.assay)}, xla {show(self.xla)}'


def is_inexact(array):
    return array.dtype.kind == 'c' or NAMES[array.dtype][0] in 'fb'


def equal(a, x):
    """The same numbers, zeros of any sign among them, or both NaN."""
    result = np.ones(a.shape, bool)
    for p, q in zip(components(a), components(x)):
        if p.dtype.kind in 'biu' or not is_inexact(p):
            result &= p == q
            continue
        p, q = p.astype('f8'), q.astype('f8')
        result &= (p == q) | (np.isnan(p) & np.isnan(q))
    return result


def close(a, x):
    """Equal, or within the error of one step."""
    if not is_inexact(a):
        return equal(a, x)
    return equal(a, x) | within_ulps(a, x, NAMES[a.dtype], ULPS)


def excused(a, x, varied):
    """The difference is no larger than what varied rounding does to the element, several times over."""
    if not is_inexact(a):
        return np.any([~equal(a, v) for v in varied], axis=0)
    ok = np.ones(a.shape, bool)
    with np.errstate(all='ignore'):
        for parts in zip(components(a), components(x), *[components(v) for v in varied]):
            p, q, *others = [np.asarray(part).astype('f8') for part in parts]
            noise = np.max([np.abs(o - p) for o in others], axis=0)
            unsteady = np.any([np.isfinite(o) != np.isfinite(p) for o in others], axis=0)
            ok &= (p == q) | (np.isnan(p) & np.isnan(q)) | (np.abs(p - q) <= NOISE_FACTOR * noise) | unsteady
    return ok


def zero_signs(a, x):
    """Zeros of different sign."""
    result = np.zeros(a.shape, bool)
    if not is_inexact(a):
        return result
    for p, q in zip(components(a), components(x)):
        result |= (p == 0) & (q == 0) & (np.signbit(p) != np.signbit(q))
    return result


def first_difference(number, a, x, wrong, tag):
    index = tuple(np.argwhere(wrong)[0])
    return Difference(number, index, a[index], x[index], tag, int(wrong.sum()))


def is_finite(array):
    return np.isfinite(array.astype('c16' if array.dtype.kind == 'c' else 'f8'))


def of_the_largest(a, x):
    """Differences that are small beside the largest element of the result."""
    if not is_inexact(a) or not a.size:
        return np.zeros(a.shape, bool)
    wide = 'c16' if a.dtype.kind == 'c' else 'f8'
    p, q = a.astype(wide), x.astype(wide)
    part = np.finfo(a.dtype).eps if a.dtype.kind in 'fc' else np.inf
    return np.abs(p - q) <= LAPACK_EPSILONS * part * np.max(np.abs(q), initial=0, where=np.isfinite(q))


def of_a_phase(a, x, text):
    """Complex powers, exp(w log z) in XLA: where w log z is large its rounding turns the result.
    Up to |w log z| of some 250."""
    if not np.issubdtype(a.dtype, np.complexfloating) or ' power(' not in text:
        return np.zeros(a.shape, bool)
    return np.abs(a - x) <= 256 * np.finfo(a.dtype).eps * np.abs(a)


# Classes that are known by a program's text and the values: (tag, condition),
# where the condition answers a mask.
KNOWN = [
    ('lapack-rounding', lambda a, x, text: of_the_largest(a, x) & ('"lapack_' in text)),
    ('rng-stream', lambda a, x, text: np.full(a.shape, ' rng(' in text)),
    ('complex-special-values',
     lambda a, x, text: np.full(a.shape, a.dtype.kind == 'c' or 'c64[' in text or 'c128[' in text)
     & ~(is_finite(a) & is_finite(x)) if is_inexact(a) else np.zeros(a.shape, bool)),
    ('complex-power-phase', of_a_phase),
    ('log1p-f64',
     lambda a, x, text: np.abs(a - x) <= 1e-12 * np.abs(a)
     if a.dtype == np.float64 and 'log-plus-one(' in text else np.zeros(a.shape, bool)),
    # inf - inf of a product that overflows, which a fused multiply-add does not round.
    ('contracted-products',
     lambda a, x, text: np.full(a.shape,
                                is_inexact(a) and ('subtract(' in text or 'add(' in text)) & ~is_finite(a)),
]


def explain(a, x, number, variants):
    """Pairs (tag, mask) for the elements that differ by more than one step; an empty tag where nothing
    explains them.

    The program's own text has CHLO's functions, XLA's text has them written out as XLA computes them: where
    that gives XLA's result, and Assay's is another, the function as XLA computes it is not its own exact
    value.
    """
    wrong = ~close(a, x)
    if not wrong.any():
        return
    written_out = variants.written_out()[number]
    varied = [v[number] for v in variants.rounded_otherwise()]
    as_xla = close(written_out, x) | excused(written_out, x, varied)
    wrong &= ~(as_xla & (close(a, written_out) | excused(written_out, a, varied)))
    tags = [('chlo-expanded', lambda: as_xla),
            ('subnormals-flushed', lambda: close(variants.flushed()[number], x))]
    tags += [(tag, lambda holds=holds: holds(a, x, variants.text())) for tag, holds in KNOWN]
    for tag, holds in tags:
        with np.errstate(all='ignore'):
            mask = wrong & holds() if wrong.any() else wrong
        if mask.any():
            yield tag, mask
        wrong = wrong & ~mask
    if wrong.any():
        yield '', wrong


def compare(ours, theirs, variants):
    """A Difference for each result and tag."""
    found = []
    for number, (a, x) in enumerate(zip(ours, theirs)):
        if a.shape != x.shape or a.dtype != x.dtype:
            raise ValueError(f'assay has {a.dtype}{a.shape}, xla {x.dtype}{x.shape}')
        for tag, mask in explain(a, x, number, variants):
            found.append(first_difference(number, a, x, mask, tag))
        signs = zero_signs(a, x)
        if signs.any():
            complex_numbers = a.dtype.kind == 'c' or 'c64[' in variants.text() or 'c128[' in variants.text()
            tag = 'complex-zero-signs' if complex_numbers else 'zero-signs'
            found.append(first_difference(number, a, x, signs, tag))
    return found
