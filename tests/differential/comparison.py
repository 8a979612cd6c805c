"""Compares Assay's and XLA:CPU's results by the rule of each check and puts every
difference in its known class."""

import numpy as np
from differences import KNOWN
from values import epsilon, smallest


def bits_of(array):
    return array.view(f'u{array.dtype.itemsize}') if array.dtype.itemsize <= 8 else None


def components(array):
    """A complex array as its two real parts, any other array as it is."""
    if array.dtype.kind == 'c':
        return [array.real, array.imag]
    return [array]


def same(a, x, moves):
    """True where the elements have the same bits, or are both NaN (which `moves` does not forgive)."""
    result = np.ones(a.shape, bool)
    for p, q in zip(components(a), components(x)):
        p, q = np.array(p, order='C'), np.array(q, order='C')
        equal = bits_of(p) == bits_of(q)
        if not moves and p.dtype.kind not in 'biu':
            with np.errstate(all='ignore'):
                equal |= np.isnan(p.astype('f8')) & np.isnan(q.astype('f8'))
        result &= equal
    return result


def within_ulps(a, x, element, limit):
    """Distance in units in the last place of the larger magnitude; for complex of the larger component."""
    ok = np.ones(a.shape, bool)
    parts = [(p.astype('f8'), q.astype('f8')) for p, q in zip(components(a), components(x))]
    with np.errstate(all='ignore'):
        size = np.max([np.maximum(np.abs(p), np.abs(q)) for p, q in parts], axis=0)
        unit = np.maximum(size * epsilon(element), smallest(element))
        for p, q in parts:
            close = np.abs(p - q) <= limit * unit
            ok &= (p == q) | close | (np.isnan(p) & np.isnan(q))
    return ok


def within(bound, a, x):
    ok = np.ones(a.shape, bool)
    with np.errstate(all='ignore'):
        for p, q in zip(components(a), components(x)):
            p, q = p.astype('f8'), q.astype('f8')
            ok &= (p == q) | (np.abs(p - q) <= bound) | (np.isnan(p) & np.isnan(q))
    return ok


def agree(check, a, x, of_absolutes):
    rule = check.rule
    if rule.kind == 'exact':
        return same(a, x, rule.moves)
    if rule.kind == 'ulps':
        return same(a, x, False) | within_ulps(a, x, check.element, rule.limit)
    with np.errstate(all='ignore'):
        if rule.kind == 'sum':
            terms = np.max([np.abs(c.astype('f8')) for c in components(of_absolutes)], axis=0)
            bound = rule.limit * (epsilon(check.element) * terms + smallest(check.element))
        else:
            sizes = [np.abs(c.astype('f8')) for c in components(a)]
            finite = [s[np.isfinite(s)].max(initial=0) for s in sizes]
            bound = rule.limit * (epsilon(check.element) * max(finite) + smallest(check.element))
        return within(bound, a, x)


class Difference:
    """One differing element: what the classes of known differences look at.

    `inputs` are the operand elements of an elementwise op, `arrays` the whole operands of any op.
    """

    def __init__(self, check, inputs, input_elements, arrays, index, a, x, shape):
        self.op, self.label, self.element, self.text = check.op, check.label, check.element, check.text
        self.inputs, self.input_elements = inputs, input_elements
        self.arrays, self.shape = arrays, shape
        self.index, self.assay, self.xla = index, a, x

    def __str__(self):
        given = f' of {", ".join(show(v) for v in self.inputs)}' if self.inputs else ''
        return f'{self.label}{given} at {list(map(int, self.index))}: assay {show(self.assay)}, xla {show(self.xla)}'


def show(value):
    if isinstance(value, (complex, np.complexfloating)):
        return f'({show(value.real)}, {show(value.imag)})'
    if value.dtype.kind in 'biu' or 'int' in value.dtype.name:
        return str(value)
    raw = value.tobytes()[::-1].hex()
    return f'{float(value)!r} (0x{raw})'


def differences(check, args, elements, a, x, of_absolutes):
    """Yields a Difference for every element outside the rule."""
    wrong = np.argwhere(~agree(check, a, x, of_absolutes))
    used = [elements[n] for n in check.operands]
    for index in map(tuple, wrong):
        inputs = [args[n][index] for n in check.operands] if check.elementwise else []
        arrays = [args[n] for n in check.operands]
        yield Difference(check, inputs, used, arrays, index, a[index], x[index], a.shape)


def classify(difference):
    for known in KNOWN:
        if known.holds(difference):
            return known.tag
    return None
