"""Goldens of the custom calls of LAPACK's decompositions: mpmath's numbers of 60 digits, rounded once. Wants
NumPy and mpmath, which tools/test's build/venv has."""
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "differential"))
import numpy as np  # noqa: E402
import exact_decompositions as exact  # noqa: E402
from mpmath import mp  # noqa: E402

import written  # noqa: E402

NAMES = {np.float32: "f32", np.float64: "f64", np.complex64: "c64", np.complex128: "c128", np.int32: "s32"}


def shape(a):
    return f"{NAMES[a.dtype.type]}[{','.join(map(str, a.shape))}]"


def number(x):
    if isinstance(x, np.integer):
        return str(int(x))
    if isinstance(x, np.complexfloating):
        return f"({number(x.real)}, {number(x.imag)})"
    text = float(x).hex()
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}" if float(x) else "0"


def text(a):
    if a.ndim == 0:
        return number(a[()])
    return "{" + ", ".join(text(x) for x in a) + "}"


def golden(call, decision):
    results, elements = call.text.split("ROOT r = (")[1].split(") custom-call(")[0], []
    depth, start = 0, 0
    for i, c in enumerate(results + ","):
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            elements.append(results[start:i].strip())
            start = i + 1
    kept = [k for k, x in enumerate(call.expected) if x is not None]
    head = ["// oracle: mpmath", f"// decision: {decision}"]
    head += [f"// arg{i}: {shape(a)} {text(a)}" for i, a in enumerate(call.arguments)]
    head += [f"// out{i}: {elements[k]} {text(np.asarray(call.expected[k]))}" for i, k in enumerate(kept)]
    body = call.text.replace("HloModule m\n", f"HloModule decomposition\n\n").replace("ENTRY e", "ENTRY main")
    body = body.replace("  ROOT r = ", "  r = ").replace("\n}\n", "\n")
    body += "".join(f"  e{k} = {elements[k]} get-tuple-element(r), index={k}\n" for k in kept)
    types = ", ".join(elements[k] for k in kept)
    body += f"  ROOT t = ({types}) tuple({', '.join(f'e{k}' for k in kept)})\n}}\n"
    return "\n".join(head) + "\n" + body


def chosen(t, rng):
    """File name, decision, call."""
    draw = lambda m, n: np.ascontiguousarray(exact.draw(rng, t, m, n).astype(exact.TYPES[t]))
    a = draw(4, 3)
    for call, name in zip(exact.qr_calls(t, "", a), ("geqrf", "geqp3")):
        yield name, "lapack-calls", call
    yield "gesdd", "lapack-unique", next(exact.svd_calls(t, "", draw(3, 4)))
    ranked = np.ascontiguousarray((np.rint(draw(4, 2) * 2) @ np.rint(draw(2, 3) * 2)).astype(exact.TYPES[t]))
    yield "gesvd_rank_2", "lapack-unique", list(exact.svd_calls(t, "", ranked))[1]
    x = draw(4, 4)
    x = np.ascontiguousarray(x + x.conj().T)
    yield "syevd", "lapack-unique", next(exact.hermitian_calls(t, "", x))
    yield "sytrd", "lapack-calls", next(exact.tridiagonal_calls(t, "", x))
    ring = (2 * np.eye(5) - np.roll(np.eye(5), 1, 0) - np.roll(np.eye(5), -1, 0)).astype(exact.TYPES[t])
    yield "syevd_ring", "lapack-unique", next(exact.hermitian_calls(t, "", ring))
    x = draw(4, 4)
    yield "gehrd", "lapack-calls", next(exact.hessenberg_calls(t, "", x))
    yield "geev", "lapack-unique", next(exact.eig_calls(t, "", x, None))
    yield "gees", "lapack-unique", next(exact.schur_calls(t, "", x))
    for name, matrix, known in exact.defective_matrices(rng, t):
        if name in ("Jordan", "semisimple"):
            yield f"geev_{name.lower()}", "lapack-unique", next(
                exact.eig_calls(t, "", np.ascontiguousarray(matrix.astype(exact.TYPES[t])), known))


def main():
    mp.dps = 60
    script = written.Script(__file__)
    for t in exact.TYPES:
        for name, decision, call in chosen(t, np.random.default_rng(ord(t))):
            script.write("linalg", f"lapack_{name}_{exact.HLO[t]}", golden(call, decision))
    script.finish("--dry-run" in sys.argv)


if __name__ == "__main__":
    main()
