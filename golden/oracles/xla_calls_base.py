"""Oracles of the calls of XLA's compilers: arithmetic rounded as the calls round it, products,
gradients of convolutions."""

import itertools
import json
import math
import pathlib
from fractions import Fraction

import mpmath
from linalg_base import COMPONENT, FORMATS, INTS, Array, Random, indices, number, rn, wrap

import written

mpmath.mp.prec = 300
SCRIPT = written.Script(pathlib.Path(__file__).with_name("xla_calls.py"))


def golden(name, program, args=(), outs=(), refuse=None, decision=None, oracle="rational", header=""):
    lines = ["// oracle: " + ("spec" if refuse else oracle)]
    if decision:
        lines.append("// decision: " + decision)
    lines += ["// arg%d: %s" % (i, a.text()) for i, a in enumerate(args)]
    lines += ["// out%d: %s" % (i, a.text()) for i, a in enumerate(outs)]
    if refuse:
        lines.append("// refuse: " + refuse)
    SCRIPT.write("xla_calls", name, "\n".join(lines) + "\nHloModule %s%s\n\n%s" % (name, header, program))


def program(args, outs, target, config, attributes="", workspace="s8[64]", bare=False, operands=None,
            layouts=None):
    """An entry that gives the outs of a call, without its workspace."""
    shapes = [o.shape() for o in outs]
    written_shapes = [s + l for s, l in zip(shapes, layouts)] if layouts else shapes
    lines = ["  p%d = %s%s parameter(%d)" % (i, a.shape(), "", i) for i, a in enumerate(args)]
    result = written_shapes[0] if bare else "(%s)" % ", ".join(
        written_shapes + ([workspace] if workspace else []))
    config = config if isinstance(config, str) else json.dumps(config, separators=(",", ":"))
    names = operands or ["p%d" % i for i in range(len(args))]
    lines.append('  %scall = %s custom-call(%s), %scustom_call_target="%s"%s' % (
        "ROOT " if bare else "", result, ", ".join(names), attributes and attributes + ", ", target,
        config and ", backend_config=" + config))
    if not bare:
        for i, shape in enumerate(written_shapes):
            root = "ROOT " if len(outs) == 1 else ""
            lines.append("  %sr%d = %s get-tuple-element(call), index=%d" % (root, i, shape, i))
        if len(outs) > 1:
            lines.append("  ROOT r = (%s) tuple(%s)" % (", ".join(written_shapes),
                                                        ", ".join("r%d" % i for i in range(len(outs)))))
    return "ENTRY main {\n" + "\n".join(lines) + "\n}\n"


# --- steps, each rounded once to a type ---


def f(type_name, value):
    return value if type_name in INTS else rn(type_name, value)


def add(t, a, b):
    if t in COMPONENT:
        p = COMPONENT[t]
        return (add(p, a[0], b[0]), add(p, a[1], b[1]))
    return wrap(t, a + b) if t in INTS else rn(t, Fraction(a) + Fraction(b))


def mul(t, a, b):
    if t in COMPONENT:
        p = COMPONENT[t]
        x, y = [Fraction(v) for v in a], [Fraction(v) for v in b]
        return (rn(p, x[0] * y[0] - x[1] * y[1]), rn(p, x[0] * y[1] + x[1] * y[0]))
    return wrap(t, a * b) if t in INTS else rn(t, Fraction(a) * Fraction(b))


def rounded(t, x):
    """An mpf with 300 bits, rounded once: such values lie far from midpoints."""
    sign, man, exp, _ = mpmath.mpf(x)._mpf_
    return rn(t, (-1) ** sign * Fraction(int(man)) * Fraction(2) ** int(exp))


def apply(t, function, x):
    return rounded(t, function(mpmath.mpf(x)))


def store(t, x):
    """Saturating, for 8 bits."""
    if t in ("f8e4m3fn", "f8e5m2"):
        most = FORMATS[t][2]
        return rn(t, min(max(x, -most), most))
    if t in ("s8", "u8"):
        low, high = (-128, 127) if t == "s8" else (0, 255)
        return math.trunc(min(max(x, low), high))
    return f(t, x) if t not in COMPONENT else x


def relu(t, x):
    return x if x > 0 else 0.0


def gelu(t, x):
    cube = mul(t, mul(t, x, x), x)
    inner = add(t, x, mul(t, cube, rn(t, Fraction(0.044715))))
    tanh = apply(t, mpmath.tanh, mul(t, inner, rounded(t, mpmath.sqrt(2 / mpmath.pi))))
    return mul(t, mul(t, x, 0.5), add(t, tanh, 1.0))


def gelu_erf(t, x):
    erf = apply(t, mpmath.erf, mul(t, x, rounded(t, mpmath.sqrt(mpmath.mpf(1) / 2))))
    return mul(t, mul(t, x, 0.5), add(t, erf, 1.0))


ACTIVATIONS = {
    "kNone": lambda t, x, a: x, "kRelu": lambda t, x, a: relu(t, x),
    "kRelu6": lambda t, x, a: min(max(x, 0.0), 6.0),
    "kLeakyRelu": lambda t, x, a: x if x > 0 else mul(t, x, rn(t, Fraction(a))),
    "kElu": lambda t, x, a: x if x > 0 else apply(t, mpmath.expm1, x),
    "kSigmoid": lambda t, x, a: apply(t, lambda v: 1 / (1 + mpmath.exp(-v)), x),
    "kTanh": lambda t, x, a: apply(t, mpmath.tanh, x), "kGeluExact": lambda t, x, a: gelu_erf(t, x),
    "RELU": lambda t, x, a: relu(t, x), "GELU": lambda t, x, a: gelu(t, x),
    "GELU_TANH": lambda t, x, a: gelu(t, x),
    "GELU_ERF": lambda t, x, a: gelu_erf(t, x), "TANH": lambda t, x, a: apply(t, mpmath.tanh, x),
    "LINEAR": lambda t, x, a: mul(t, x, rn(t, Fraction(a))),
}


def exact_product(pairs, t):
    """The sum of products, rounded once."""
    if t in COMPONENT:
        re = sum((Fraction(a[0]) * Fraction(b[0]) - Fraction(a[1]) * Fraction(b[1]) for a, b in pairs),
                 Fraction(0))
        im = sum((Fraction(a[0]) * Fraction(b[1]) + Fraction(a[1]) * Fraction(b[0]) for a, b in pairs),
                 Fraction(0))
        return (rn(COMPONENT[t], re), rn(COMPONENT[t], im))
    total = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    return wrap(t, int(total)) if t in INTS else rn(t, total)


def compute_type(a, d):
    for t in ("c128", "c64", "f64"):
        if t in (a, d):
            return t
    return d if a in INTS and d in INTS and INTS[d] >= 32 else "f32"


# --- cuBLAS ---


def gemm_config(lc=(1,), rc=(0,), lb=(), rb=(), alpha=1, beta=0, alpha_imag=0, epilogue="DEFAULT", **more):
    config = {"alpha_real": alpha, "alpha_imag": alpha_imag, "beta": beta,
              "dot_dimension_numbers": {"lhs_contracting_dimensions": [str(d) for d in lc],
                                        "rhs_contracting_dimensions": [str(d) for d in rc],
                                        "lhs_batch_dimensions": [str(d) for d in lb],
                                        "rhs_batch_dimensions": [str(d) for d in rb]},
              "precision_config": {"operand_precision": ["DEFAULT", "DEFAULT"], "algorithm": "ALG_UNSET"},
              "epilogue": epilogue, "lhs_stride": "0", "rhs_stride": "0", "grad_x": False, "grad_y": False,
              "damax_output": False}
    config.update(more)
    return config


def nested(gemm):
    return {"operation_queue_id": "0", "wait_on_operation_queues": [], "gemm_backend_config": gemm,
            "force_earliest_schedule": False}


def free(rank, *taken):
    return [d for d in range(rank) if not any(d in dims for dims in taken)]


def product(a, b, config, t):
    """{result index: the product}, and the result's sizes."""
    dims = {k: [int(d) for d in v] for k, v in config["dot_dimension_numbers"].items()}
    lc, rc = dims["lhs_contracting_dimensions"], dims["rhs_contracting_dimensions"]
    lb, rb = dims["lhs_batch_dimensions"], dims["rhs_batch_dimensions"]
    lf, rf = free(len(a.sizes), lc, lb), free(len(b.sizes), rc, rb)
    batch = [a.sizes[d] for d in lb] or [b.sizes[d] for d in rb]  # one side may have none, and serves all
    sizes = batch + [a.sizes[d] for d in lf] + [b.sizes[d] for d in rf]
    values = {}
    for o in indices(sizes):
        ob, oi, oj = o[:len(batch)], o[len(batch):len(batch) + len(lf)], o[len(batch) + len(lf):]
        pairs = []
        for k in itertools.product(*(range(a.sizes[d]) for d in lc)):
            at = dict(zip(lb, ob)) | dict(zip(lf, oi)) | dict(zip(lc, k))
            bt = dict(zip(rb, ob)) | dict(zip(rf, oj)) | dict(zip(rc, k))
            pairs.append(
                (a[tuple(at[d] for d in range(len(a.sizes)))], b[tuple(bt[d] for d in range(len(b.sizes)))]))
        values[o] = exact_product(pairs, t)
    return values, sizes


def gemm(a, b, config, d, c=None, bias=None, bias_dims=None, scales=(), d_scale=None):
    """D, the epilogue's input as D's type, and the greatest of |D| before D's scale."""
    plain = (config["alpha_real"], config["alpha_imag"], config["beta"],
             config["epilogue"]) == (1, 0, 0, "DEFAULT") and \
        not scales and not config["damax_output"] and d not in ("f8e4m3fn", "f8e5m2", "s8")
    t = d if plain else compute_type(a.type, d)
    values, sizes = product(a, b, config, t)
    out, aux, amax = Array.full(d, sizes, None), Array.full(d, sizes, None), 0.0
    bias_dims = bias_dims if bias_dims is not None else [len(sizes) - 1]
    for o, x in values.items():
        if scales:
            x = mul(t, x, mul("f32", *scales))
        alpha = config["alpha_real"]
        if t in COMPONENT:
            if (alpha, config["alpha_imag"]) != (1, 0):
                x = mul(t, x, (float(alpha), float(config["alpha_imag"])))
        elif alpha != 1:
            x = mul(t, x, f(t, alpha))
        if c is not None:
            term = c[o]
            if config["beta"] != 1:
                term = mul(t, term, (float(config["beta"]), 0.0) if t in COMPONENT else f(t, config["beta"]))
            x = add(t, x, term)
        if bias is not None:
            x = add(t, x, bias[tuple(o[k] for k in bias_dims)])
        aux[o] = store(d, x)
        kind = config["epilogue"]
        x = relu(t, x) if "RELU" in kind else gelu(t, x) if "GELU" in kind else x
        if t not in COMPONENT:
            amax = max(amax, abs(x))
        out[o] = store(d, x if d_scale is None else mul(t, x, d_scale))
    return out, aux, Array("f32", [], [amax])


class Labels:
    """dim_labels and a window of the forward convolution y = conv(x, w)."""

    def __init__(self, labels, window, groups=1):
        self.labels, self.window, self.groups = labels, window, groups
        x, rest = labels.split("_")
        w, y = rest.split("->")
        self.x, self.w, self.y = x, w, y
        self.spatial = len(window)

    def text(self):
        def part(key, default, join=lambda v: str(v)):
            return "x".join(join(d.get(key, default)) for d in self.window)
        pads = part("pad", (0, 0), lambda v: "%d_%d" % v)
        return "window={size=%s stride=%s pad=%s rhs_dilate=%s rhs_reversal=%s}, dim_labels=%s%s" % (
            part("size", 1), part("stride", 1), pads, part("dilate", 1), part("reversal", 0), self.labels,
            ", feature_group_count=%d" % self.groups if self.groups > 1 else "")

    def at(self, labels, **roles):
        return tuple(roles[c] if c in roles else roles["s"][int(c)] for c in labels)

    def output_sizes(self, x, w):
        n, o = x[self.x.index("b")], w[self.w.index("o")]
        spatial = []
        for k, d in enumerate(self.window):
            size = x[self.x.index(str(k))] + sum(d.get("pad", (0, 0)))
            spatial.append((size - ((d["size"] - 1) * d.get("dilate", 1) + 1)) // d.get("stride", 1) + 1)
        return list(self.at(self.y, b=n, f=o, s=spatial))

    def terms(self, x_sizes, w_sizes):
        """(index in x, index in w, index in y) of each product of the forward convolution."""
        y_sizes = self.output_sizes(x_sizes, w_sizes)
        group_in, outs = w_sizes[self.w.index("i")], w_sizes[self.w.index("o")]
        of = [y_sizes[self.y.index(str(k))] for k in range(self.spatial)]
        for n, o, i in itertools.product(range(x_sizes[self.x.index("b")]), range(outs), range(group_in)):
            feature = o // (outs // self.groups) * group_in + i
            for position in itertools.product(*(range(v) for v in of)):
                for tap in itertools.product(*(range(d["size"]) for d in self.window)):
                    place, kernel = [], []
                    for k, d in enumerate(self.window):
                        place.append(position[k] * d.get("stride", 1) + tap[k] * d.get("dilate", 1)
                                     - d.get("pad", (0, 0))[0])
                        kernel.append(d["size"] - 1 - tap[k] if d.get("reversal") else tap[k])
                    if all(0 <= p < x_sizes[self.x.index(str(k))] for k, p in enumerate(place)):
                        yield (self.at(self.x, b=n, f=feature, s=place), self.at(self.w, o=o, i=i, s=kernel),
                               self.at(self.y, b=n, f=o, s=position))


def sums(sizes, contributions, t):
    """contributions: (index, factor, factor)."""
    totals = {}
    for index, a, b in contributions:
        totals.setdefault(index, []).append((a, b))
    return {index: exact_product(totals.get(index, []), t) for index in indices(sizes)}


def conv_config(activation="kNone", scale=1, side=0, alpha=0, **more):
    inner = {"activation_mode": activation, "conv_result_scale": scale, "side_input_scale": side,
             "leakyrelu_alpha": alpha}
    return {"operation_queue_id": "0", "wait_on_operation_queues": [],
            "cudnn_conv_backend_config": inner | more, "force_earliest_schedule": False}


DIMENSION = {"size": 3, "pad": (1, 1)}
NCHW = Labels("bf01_oi01->bf01", [dict(DIMENSION), dict(DIMENSION)])
NHWC = Labels("b01f_o01i->b01f", [{"size": 3, "pad": (1, 1), "stride": 2}, {"size": 2, "pad": (0, 1)}])
HWIO = Labels("b01f_01io->b01f", [{"size": 2, "dilate": 2, "pad": (2, 1)}, {"size": 3, "stride": 2}])
GROUPED = Labels("b0f_0io->b0f", [{"size": 3, "pad": (1, 1), "stride": 2}], groups=2)


def sizes_of(labels, n, features, spatial, kernel_out):
    return list(labels.at(labels.x, b=n, f=features, s=spatial)), \
        list(labels.at(labels.w, i=features // labels.groups, o=kernel_out,
                       s=[d["size"] for d in labels.window]))
