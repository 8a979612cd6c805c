"""What the scripts of golden/shape share: values as text, XLA's answers, and writing of goldens."""
import math
import pathlib

import ml_dtypes
import numpy as np

from written import Script

SCRIPT = Script(pathlib.Path(__file__).resolve().parent / "shape.py")

TYPES = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32,
    "f64": np.float64, "bf16": ml_dtypes.bfloat16, "c64": np.complex64, "c128": np.complex128,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}
MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def nan_text(name, value):
    bits = int(np.array(value).view({2: np.uint16, 4: np.uint32, 8: np.uint64}[np.array(value).itemsize]))
    width, mantissa = np.array(value).itemsize * 8, MANTISSA[name]
    payload = bits & ((1 << mantissa) - 1)
    text = "-nan" if bits >> (width - 1) else "nan"
    return text if payload == 1 << (mantissa - 1) else f"{text}({payload:#x})"


def real_text(name, value):
    f = float(value)
    if math.isnan(f):
        return nan_text(name, value) if name in MANTISSA else "nan"
    if math.isinf(f):
        return "inf" if f > 0 else "-inf"
    return f.hex()


def element_text(name, value):
    if name == "pred":
        return "true" if value else "false"
    if name[0] in "su":
        return str(int(value))
    if name[0] == "c":
        part = "f32" if name == "c64" else "f64"
        return f"({real_text(part, value.real)}, {real_text(part, value.imag)})"
    return real_text(name, value)


def values_text(name, a):
    if a.ndim == 0:
        return element_text(name, a[()])
    return "{" + ", ".join(values_text(name, x) for x in a) + "}"


def literal(a):
    name = NAMES[a.dtype]
    return f"{name}[{','.join(map(str, a.shape))}] {values_text(name, a)}"


def shape_of(a):
    return f"{NAMES[a.dtype]}[{','.join(map(str, a.shape))}]"


def arr(name, values):
    return np.array(values, dtype=TYPES[name])


# --- XLA ---

_client = None


def xla(text, args):
    """Results of XLA:CPU, flat."""
    global _client
    import jax
    jax.config.update("jax_enable_x64", True)
    from jax._src.lib import xla_client
    from jaxlib import _hlo, _jax
    _client = _client or jax.devices("cpu")[0].client
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    mlir = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    devices = _jax.DeviceList(tuple(jax.devices("cpu")[:1]))
    executable = _client.compile_and_load(mlir, devices, xla_client.CompileOptions())
    return [np.asarray(x) for x in executable.execute([jax.device_put(a) for a in args])]


# --- writing ---

def write(name, lines, program):
    SCRIPT.write("shape", name, "\n".join(lines) + "\n" + program.strip() + "\n")


def program(result, op, operands, attributes="", computations=""):
    """One op on parameters, given as shapes."""
    lines = ["HloModule m", computations, "ENTRY main {"]
    lines += [f"  p{i} = {s} parameter({i})" for i, s in enumerate(operands)]
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    lines += [f"  ROOT r = {result + ' ' if result else ''}{op}({names})"
              + (", " + attributes if attributes else ""),
              "}"]
    return "\n".join(x for x in lines if x)


def golden(name, text, args, outs=None, oracle=None, decision=None, remark=None):
    """outs None: ask XLA; a list of arrays or of ready literal texts otherwise."""
    lines = [f"// {remark}"] if remark else []
    if outs is None:
        outs, oracle = xla(text, args), "jaxlib 0.10.2"
    lines.append(f"// oracle: {oracle or 'hand'}")
    if decision:
        lines.append(f"// decision: {decision}")
    lines += [f"// arg{i}: {a if isinstance(a, str) else literal(a)}" for i, a in enumerate(args)]
    lines += [f"// out{i}: {o if isinstance(o, str) else literal(o)}" for i, o in enumerate(outs)]
    write(name, lines, text)


def one(name, result, op, args, attributes="", outs=None, **kw):
    computations = kw.pop("computations", "")
    golden(name, program(result, op, [shape_of(a) for a in args], attributes, computations), args, outs, **kw)


def refuse(name, message, result, op, operands, attributes="", computations="", code=3, args=(), text=None):
    lines = [f"// refuse: {code} {message}"]
    lines += [f"// arg{i}: {literal(a)}" for i, a in enumerate(args)]
    write(name, lines, text or program(result, op, operands, attributes, computations))


rng = np.random.default_rng(20)


def random(name, shape):
    if name == "pred":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if name[0] in "su":
        bits = int(name[1:])
        low, high = (0, 1 << bits) if name[0] == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
        return rng.integers(max(low, -2**62), min(high, 2**62), shape).astype(TYPES[name])
    if name[0] == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(TYPES[name])
    return rng.normal(size=shape).astype(TYPES[name])


NANS = np.array([0x7FC00001, 0xFFC12345, 0x7F800001, 0x80000000, 0x00000001, 0xFF800000],
                np.uint32).view(np.float32)

ADD = "add_f { a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT s = %s[] add(a, b) }"
SECOND = "second { a = %s[] parameter(0)\n  ROOT b = %s[] parameter(1) }"


def add_f(t):
    return ADD % (t, t, t)


def second(t):
    return SECOND % (t, t)


def binary_f(op, t):
    return f"{op}_f {{ a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT s = {t}[] {op}(a, b) }}"


def compare_f(t, direction, kind=None, pairs=1, which=0):
    kinds = f", type={kind}" if kind else ""
    ts = t if isinstance(t, list) else [t] * pairs
    lines = []
    for k, x in enumerate(ts):
        lines += [f"  a{k} = {x}[] parameter({2 * k})", f"  b{k} = {x}[] parameter({2 * k + 1})"]
    return "cmp {\n" + "\n".join(lines) + \
        f"\n  ROOT c = pred[] compare(a{which}, b{which}), direction={direction}{kinds} }}"
