"""golden/quantized: quantized types and their arithmetic in rational numbers (docs/spec/quantized.md sections
1 to 3).

A real is a value of float_bits: ("fin", sign, magnitude), ("inf", sign, 0) or NAN. A quantized element is the
integer of its storage.
"""
import itertools
from math import trunc

from float_bits import BY_NAME, NAN, fin, half_even, inf, signed

NAMES = {"s": "i", "u": "ui"}


class Quantized:
    def __init__(self, storage, expressed="f32", scales=1.0, zeros=0, axis=None, low=None, high=None,
                 spelled=None):
        self.storage, self.expressed = BY_NAME[storage], BY_NAME[expressed]
        self.scales = scales if isinstance(scales, list) else [scales]
        self.zeros = zeros if isinstance(zeros, list) else [zeros] * len(self.scales)
        self.axis, self.spelled = axis, spelled
        self.low = self.storage.min_int if low is None else low
        self.high = self.storage.max_int if high is None else high

    def text(self):
        """As a program may spell it: always with a zero point."""
        if self.spelled:
            return self.spelled
        storage = NAMES[self.storage.kind] + str(self.storage.width)
        whole = (self.low, self.high) == (self.storage.min_int, self.storage.max_int)
        span = "" if whole else f"<{self.low}:{self.high}>"
        pairs = ", ".join(f"{number(scale)}:{zero}" for scale, zero in zip(self.scales, self.zeros))
        axis, pairs = ("", pairs) if self.axis is None else (f":{self.axis}", "{" + pairs + "}")
        return f"!quant.uniform<{storage}{span}:{mlir(self.expressed)}{axis}, {pairs}>"

    def scale(self, pair):
        return self.expressed.rn(fin(self.scales[pair]))

    def real(self, q, pair=0):
        """D: e = RN_E(q - z), RN_E(e * s_E)."""
        e = self.expressed.decode(self.expressed.rn(fin(q - self.zeros[pair])))
        s = self.expressed.decode(self.scale(pair))
        return rounded(self.expressed, times(e, s))

    def quantize(self, x, pair=0):
        """Q: a = RN_E(x / s_E), b = RN_E(a + z_E), clamp, ties to even, to an integer, saturated."""
        if x == NAN:
            return min(max(0, self.low), self.high)
        e = self.expressed
        s = e.decode(self.scale(pair))
        a = rounded(e, x if x[0] == "inf" else ("fin", x[1], x[2] / s[2]))
        b = rounded(e, plus(a, e.decode(e.rn(fin(self.zeros[pair])))))
        if b == NAN:
            return min(max(0, self.low), self.high)
        c = max(key(self.bound(self.low)), min(key(b), key(self.bound(self.high))))
        if abs(c) == INFINITE:
            return self.high if c > 0 else self.low
        # The nearest integer to a large c of 6 or 4 bits is not in E: half of them round to
        # their largest, which is none.
        r = rounded(e, fin(even(c)))
        return min(max(trunc(signed(r)), self.low), self.high)

    def bound(self, number):
        b = self.expressed.decode(self.expressed.rn(fin(number)))
        has_infinity = self.expressed.specials == "ieee"
        return ("fin", int(number < 0),
                self.expressed.max) if b == NAN or (b[0] == "inf" and not has_infinity) else b


INFINITE = 10 ** 400


def key(v):
    """A number that stands for a real in comparisons."""
    return (-INFINITE if v[1] else INFINITE) if v[0] == "inf" else signed(v)


def even(x):
    return (1 if x >= 0 else -1) * half_even(abs(x))


def rounded(t, v):
    return t.decode(t.rn(v))


def times(a, b):
    if NAN in (a, b):
        return NAN
    if "inf" in (a[0], b[0]):
        return inf(a[1] ^ b[1])
    return ("fin", a[1] ^ b[1], a[2] * b[2])


def plus(a, b):
    if NAN in (a, b) or (a[0] == b[0] == "inf" and a[1] != b[1]):
        return NAN
    if "inf" in (a[0], b[0]):
        return a if a[0] == "inf" else b
    return fin(signed(a) + signed(b))


def mlir(t):
    if t.kind == "pred":
        return "i1"
    if t.kind in NAMES:
        return NAMES[t.kind] + str(t.width)
    return t.name.upper().replace("F", "f", 1) if t.width < 16 else t.name


def number(scale):
    """With a point, as MLIR wants it."""
    text = repr(scale)
    return text if "." in text else text.replace("e", ".0e")


class Array:
    """data: a list in row-major order, of integers or reals."""

    def __init__(self, type, shape, data):
        self.type, self.shape, self.data = type, tuple(shape), list(data)
        size = 1
        for n in self.shape:
            size *= n
        assert size == len(self.data), (shape, len(self.data))

    def tensor(self):
        element = self.type.text() if isinstance(self.type, Quantized) else mlir(self.type)
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + element + ">"

    def literal(self):
        storage = self.type.storage if isinstance(self.type, Quantized) else self.type
        dims = ",".join(map(str, self.shape))

        def one(x):
            return storage.text(storage.rn(x)) if storage.kind == "f" else \
                ("true" if x else "false") if storage.kind == "pred" else str(x)

        def nested(shape, data):
            if not shape:
                return one(data[0])
            step = len(data) // shape[0] if shape[0] else 0
            return "{" + ", ".join(nested(shape[1:], data[i * step:(i + 1) * step])
                                   for i in range(shape[0])) + "}"
        return f"{storage.name}[{dims}] " + nested(self.shape, self.data)

    def indices(self):
        return list(itertools.product(*map(range, self.shape)))

    def at(self, index):
        flat = 0
        for i, n in zip(index, self.shape):
            flat = flat * n + i
        return self.data[flat]

    def reals(self):
        """D of each element; what is not quantized is real already."""
        if not isinstance(self.type, Quantized):
            return list(self.data)
        return [self.type.real(q, pair_of(self.type, i)) for q, i in zip(self.data, self.indices())]


def pair_of(type, index):
    return 0 if type.axis is None else index[type.axis]


def quantized(type, shape, reals):
    """Q of each."""
    array = Array(type, shape, [0] * len(reals))
    array.data = [type.quantize(x, pair_of(type, i)) for x, i in zip(reals, array.indices())]
    return array


def dequantized(array):
    return Array(array.type.expressed, array.shape, array.reals())


def reals(type, shape, numbers):
    special = {"inf": inf(0), "-inf": inf(1), "nan": NAN, "-0": ("fin", 1, fin(0)[2])}
    t = BY_NAME[type]
    return Array(t, shape, [special[x] if isinstance(x, str) else rounded(t, fin(x)) for x in numbers])


class Table:
    """Programs by name."""

    def __init__(self):
        self.files = {}

    def gives(self, name, arguments, results, body, oracle="rational", decision=None, before="",
              options=None):
        """body: operations on %a, %b, ... that end with return."""
        header = [f"oracle: {oracle}"] + ([f"decision: {decision}"] if decision else [])
        header += [f"options: {options}"] if options else []
        header += [f"arg{i}: {argument.literal()}" for i, argument in enumerate(arguments)]
        header += [f"out{i}: {result.literal()}" for i, result in enumerate(results)]
        self.add(name, header, arguments, results, body, before)

    def refuses(self, name, code, text, arguments, results, body, before=""):
        """arguments and results: types as text."""
        self.add(name, [f"refuse: {code} {text}"], arguments, results, body, before)

    def add(self, name, header, arguments, results, body, before=""):
        def typed(value):
            return value if isinstance(value, str) else value.tensor()
        takes = ", ".join(f"%{'abcdefgh'[i]}: {typed(argument)}" for i, argument in enumerate(arguments))
        gives = ", ".join(map(typed, results))
        text = "".join(f"// {line}\n" for line in header) + before
        text += f"func.func @main({takes}) -> ({gives}) {{\n"
        text += "".join(f"  {line.rstrip()}\n" for line in body.strip("\n").splitlines()) + "}\n"
        assert name not in self.files, name
        self.files[name] = text
