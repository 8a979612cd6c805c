"""golden/elementwise: files, and sample values of every type."""
import random
from fractions import Fraction
from pathlib import Path

from float_bits import fin, inf
from written import Script

SCRIPT = Script(Path(__file__).parent / "elementwise.py")
HALF = Fraction(1, 2)


# ---- files ----

def braces(texts, dims):
    if not dims:
        return " " + texts[0]
    if len(dims) == 1:
        return " {" + ", ".join(texts) + "}"
    step = len(texts) // dims[0] if dims[0] else 0
    rows = [braces(texts[i * step:(i + 1) * step], dims[1:]).strip() for i in range(dims[0])]
    return " {" + ", ".join(rows) + "}"


class Array:
    """Bits of a type under some dimensions; complex elements are pairs of bits."""

    def __init__(self, t, bits, dims=None, complex_=False):
        self.t, self.bits, self.complex = t, list(bits), complex_
        self.dims = [len(self.bits)] if dims is None else dims

    @property
    def shape(self):
        name = {"f32": "c64", "f64": "c128"}[self.t.name] if self.complex else self.t.name
        return f"{name}[{','.join(map(str, self.dims))}]"

    @property
    def text(self):
        if self.complex:
            texts = [f"({self.t.text(a)}, {self.t.text(b)})" for a, b in self.bits]
        else:
            texts = [self.t.text(b) for b in self.bits]
        return self.shape + braces(texts, self.dims)


def write(name, header, body):
    module = name.replace("-", "_")
    text = "".join(f"// {line}\n" for line in header)
    text += f"HloModule {module}\n\nENTRY main {{\n" + "".join(f"  {line}\n" for line in body) + "}\n"
    SCRIPT.write("elementwise", name, text)


def golden(name, op, cases, attributes="", oracle="rational", decision=None):
    """cases: (operand arrays, result array[, attributes]); one program, a tuple of results where several."""
    header = [f"oracle: {oracle}"] + ([f"decision: {decision}"] if decision else [])
    parameters, results, inputs, outputs = [], [], [], []
    for i, (operands, result, *own) in enumerate(cases):
        names = []
        for operand in operands:
            names.append(f"p{len(parameters)}")
            inputs.append(f"arg{len(parameters)}: {operand.text}")
            parameters.append(f"{names[-1]} = {operand.shape} parameter({len(parameters)})")
        extra = own[0] if own else attributes
        results.append(f"r{i} = {result.shape} {op}({', '.join(names)}){extra}")
        outputs.append(f"out{i}: {result.text}")
    if len(cases) == 1:
        results[0] = "ROOT " + results[0]
    else:
        shapes = ", ".join(result.shape for _, result, *_ in cases)
        roots = ", ".join(f"r{i}" for i in range(len(cases)))
        results.append(f"ROOT t = ({shapes}) tuple({roots})")
    write(name, header + inputs + outputs, parameters + results)


# ---- sample values ----

def rng_for(*key):
    return random.Random("/".join(map(str, key)))


def int_samples(t, n=16):
    rng = rng_for("ints", t.name)
    low, high = t.min_int, t.max_int
    values = [0, 1, -1, 2, 3, low, high, low + 1, high - 1, high // 2 + 1, 100, -56]
    bits = [t.wrap(v) for v in values if low <= v <= high]
    bits += [rng.getrandbits(t.width) >> rng.randrange(t.width) for _ in range(n)]
    return list(dict.fromkeys(bits))[:n]


def float_specials(t):
    out = [t.rn(fin(0, 0)), t.rn(fin(0, 1)), t.rn(fin(1)), t.rn(fin(-1)), t.rn(fin(t.max)), t.rn(fin(-t.max))]
    out += [t.rn(inf()), t.rn(inf(1)), t.nan_bits]
    if t.specials == "e8m0":
        return list(dict.fromkeys([0, 1, 126, 127, 128, 254, 255]))
    out += [1, t.sign_bit | 1, 1 << t.m, (1 << t.m) - 1]  # subnormals and the smallest normal
    if t.specials in ("ieee", "fn"):
        out.append(t.nan_bits | t.sign_bit)
    return list(dict.fromkeys(out))


def float_samples(t, n=28, key="floats"):
    rng = rng_for(key, t.name)
    bits = float_specials(t)
    for x in (HALF, -HALF, Fraction(3, 2), Fraction(5, 2), Fraction(-5, 2), Fraction(7, 4), Fraction(-3, 4),
              3):
        bits.append(t.rn(fin(x)))
    while len(bits) < n:
        if rng.random() < 0.6:
            bits.append(t.rn(fin(Fraction(rng.randint(-4000, 4000), 1 << rng.randrange(12)))))
        else:
            bits.append(rng.getrandbits(t.width))
    return [canonical_encoding(t, b) for b in list(dict.fromkeys(bits))[:n]]


def canonical_encoding(t, bits):
    """A random NaN pattern without a payload that text could spell becomes one that it can."""
    if t.specials == "ieee" and t.is_nan(bits) and bits & ((1 << t.m) - 1) == 0:
        return t.nan_bits
    return bits


def float_pairs(t, op_name):
    rng = rng_for("pairs", op_name, t.name)
    specials = float_specials(t)
    short = specials if t.name == "f32" else rng.sample(specials, min(4, len(specials)))
    pairs = [(a, b) for a in short
             for b in short] if t.name == "f32" else [(a, b) for a in short for b in short][:12]
    samples = float_samples(t, 20, "pair" + op_name)
    for _ in range(12):
        pairs.append((rng.choice(samples), rng.choice(samples)))
    for _ in range(10):
        a = t.rn(fin(Fraction(rng.randint(-5000, 5000), 1 << rng.randrange(10))))
        b = t.rn(fin(Fraction(rng.randint(-5000, 5000), 1 << rng.randrange(14))))
        pairs.append((a, b))
    return pairs


def int_pairs(t, op_name, n=24):
    rng = rng_for("intpairs", op_name, t.name)
    samples = int_samples(t, 20)
    low, high = t.wrap(t.min_int), t.wrap(t.max_int)
    pairs = [(low, t.wrap(-1)), (low, low), (high, high), (1, 0), (low, 0), (0, 0), (low, 1 % (1 << t.width))]
    while len(pairs) < n:
        pairs.append((rng.choice(samples), rng.choice(samples)))
    return pairs


def complex_samples(t, n=8, key="c"):
    rng = rng_for("complex", t.name, key)
    part = lambda: t.rn(fin(Fraction(rng.randint(-3000, 3000), 1 << rng.randrange(9))))
    return [(part(), part()) for _ in range(n)]
