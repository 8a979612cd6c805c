"""Damages to one output of a program: what a faulty backend could have given in place of what it gave."""

import ml_dtypes
import numpy as np

RAW = {'bf16': ml_dtypes.bfloat16, 'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e5m2': ml_dtypes.float8_e5m2}
# check/samples.h, OutputSamples::kMultiple: smaller damages are what a correct backend may give.
MULTIPLE = 16
# Of any element or array that is not small, as most faults are.
FIRST_KINDS = ('percent', 'sign', 'nan', 'shift')
KINDS = ('scale-1-percent', 'scale-10-percent', 'sign', 'nan', 'infinity', 'zero', 'shift', 'swap', 'stale',
         'spreads', 'bf16', 'row')


def is_float(array):
    return array.dtype.kind in 'fc' or array.dtype in RAW.values()


def as_numbers(array):
    return array.astype(np.complex128 if array.dtype.kind == 'c' else np.float64)


def chosen(array, rng):
    """An element that is not small."""
    flat = np.abs(as_numbers(array.reshape(-1)))
    candidates = np.flatnonzero((flat >= np.median(flat)) & (flat > 0))
    return int(rng.choice(candidates if candidates.size else np.arange(flat.size)))


def scaled(value, factor, dtype):
    """The element, or the row, times a factor; of integers at least 1 more; truth values negated."""
    if dtype == np.bool_:
        return ~np.asarray(value)
    if dtype.kind in 'iu':
        numbers = np.asarray(value).astype(object)
        info = np.iinfo(dtype)
        changed = [int(n) + max(1, int(abs(int(n)) * (factor - 1))) for n in numbers.reshape(-1)]
        changed = [c if c <= info.max else int(n) - max(1, int(abs(int(n)) * (factor - 1)))
                   for n, c in zip(numbers.reshape(-1), changed)]
        return np.array(changed, dtype=object).astype(dtype).reshape(numbers.shape)
    with np.errstate(over='ignore', invalid='ignore'):
        return (np.asarray(value) * dtype.type(factor)).astype(dtype)


def bits_changed(value, dtype):
    """An integer with a high bit flipped."""
    info = np.iinfo(dtype)
    new = int(value) ^ (1 << max(0, info.bits - 2))
    return new if info.min <= new <= info.max else int(value) ^ 1


def special(value, number, dtype):
    if dtype == np.bool_:
        return not value
    if dtype.kind in 'iu':
        return bits_changed(value, dtype)
    return dtype.type(number)


def first_damage(array, kind, rng):
    """One of FIRST_KINDS; None where the array has no element that it changes."""
    names = {'percent': 'scale-1-percent', 'sign': 'sign', 'nan': 'nan', 'shift': 'shift'}
    return damage(array, names[kind], rng, {'other': array})


def damage(array, kind, rng, more):
    """The array with the damage; None where it has no element that this changes. `more`: the spreads of its
    elements ("spread"), another output ("other")."""
    if array.size == 0 or not (is_float(array) or array.dtype.kind in 'biu'):
        return None  # types that NumPy has no numbers for
    flat = array.reshape(-1).copy()
    at = chosen(array, rng)
    value, dtype = flat[at], array.dtype
    if kind in ('scale-1-percent', 'scale-10-percent'):
        flat[at] = scaled(value, 1.01 if '-1-' in kind else 1.1, dtype)
    elif kind == 'sign':
        if dtype.kind == 'u':
            flat[at] = bits_changed(value, dtype)
        else:
            flat[at] = not value if dtype == np.bool_ else -value
    elif kind in ('nan', 'infinity'):
        flat[at] = special(value, np.nan if kind == 'nan' else np.inf, dtype)
    elif kind == 'zero':
        flat[at] = np.zeros((), dtype)
    elif kind == 'shift':
        flat = np.roll(flat, 1)
    elif kind == 'swap':
        other = (at + 1) % flat.size
        flat[[at, other]] = flat[[other, at]]
    elif kind == 'stale':
        other = more['other'].reshape(-1)
        if other.dtype != dtype or other.size == 0:
            return None
        flat[at] = other[int(rng.integers(other.size))]
    elif kind == 'spreads':
        if not is_float(array) or not more['spread'].reshape(-1)[at] > 0:
            return None
        factor = MULTIPLE * float(rng.choice([1.5, 4, 16])) * rng.choice([-1, 1])
        flat[at] = dtype.type(value + factor * more['spread'].reshape(-1)[at])
    elif kind == 'bf16':
        if dtype not in (np.float32, np.float64):
            return None
        flat[at] = (flat[at:at + 1].astype(np.float32).view(np.uint32) & np.uint32(0xffff0000)).view(
            np.float32)[0]
    elif kind == 'row':
        if array.ndim < 2:
            return None
        rows = flat.reshape(-1, array.shape[-1])
        row = at // array.shape[-1]
        rows[row] = scaled(rows[row], 1.01, dtype)
    return None if flat.tobytes() == array.tobytes() else flat.reshape(array.shape)


def excess(before, after, spread):
    """The largest change of an element in spreads: more than MULTIPLE counts. Infinite where the spread is 0,
    or what changes is whether it is a number."""
    with np.errstate(all='ignore'):
        b, a = as_numbers(before).reshape(-1), as_numbers(after).reshape(-1)
        changed = np.abs(a - b)
        same = (b == a) | (np.isnan(b) & np.isnan(a))
        changed = np.where(np.isfinite(changed), changed, np.inf)
        shares = np.where(same, 0, changed / spread.reshape(-1))
    return float(np.nanmax(shares, initial=0))
