"""Operations of the user's own (docs/custom_ops.md): libraries, kernels and gradients in Python, and JAX."""
import pathlib
import subprocess

import numpy as np
import pytest

import assay
from assay import ops

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The example of the documents, compiled as an author would."""
    path = tmp_path_factory.mktemp("ops") / "zero_out.so"
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-O1", f"-I{ROOT}",
                    str(ROOT / "examples/ops/zero_out.cc"), "-o", str(path)], check=True)
    return ops.load_ops(path)


X = np.array([5, 4, 3, 2, 1], np.int32)


def test_wrappers_have_the_names_defaults_and_documents_of_the_registration(library):
    assert library.zero_out(X, preserve_index=2).tolist() == [0, 0, 3, 0, 0]
    assert library.acme_zero_out(X).tolist() == [5, 0, 0, 0, 0]
    assert ops.acme_zero_out(X.astype(np.float32), 3).tolist() == [0, 0, 0, 2, 0]
    assert ops.call("Acme.ZeroOutFirst", [X.reshape(5, 1)],
                    result=("s32", (5, 1))).tolist() == [[5], [0], [0], [0], [0]]
    assert "sets all but one element to zero" in library.zero_out.__doc__
    assert "preserve_index=0" in str(__import__("inspect").signature(library.zero_out))
    assert "Acme.ZeroOut" in ops.names()
    with pytest.raises(AttributeError, match="acme_nothing"):
        ops.acme_nothing


def test_lists(library):
    a, b = library.zero_out_each([X, X[:2]])
    assert (a.tolist(), b.tolist()) == ([5, 0, 0, 0, 0], [5, 0])
    a, b = library.zero_out_mixed([X, X[:2].astype(np.float32)])
    assert (a.tolist(), b.dtype) == ([5, 0, 0, 0, 0], np.float32)


def test_each_stage_by_its_wrapper(library):
    # Without a shape function the shape of the result must be said.
    assert ops.call("Acme.ZeroOutFirst", [X], result=("s32", (5,))).tolist() == [5, 0, 0, 0, 0]
    assert ops.call("Acme.ZeroOutVector", [X], result=("s32", (5,))).tolist() == [5, 0, 0, 0, 0]
    with pytest.raises(assay.EvaluationFailed,
                       match=r"op Acme.ZeroOutVector: expected a vector, got \[5,1\]"):
        ops.call("Acme.ZeroOutVector", [X.reshape(5, 1)], result=("s32", (5, 1)))
    for dtype in (np.float32, np.float64, np.int32):
        kept = library.zero_out(X.astype(dtype), preserve_index=1)
        assert (kept.tolist(), kept.dtype) == ([0, 4, 0, 0, 0], dtype)
    large = np.arange(300_000, dtype=np.int32)
    text = """HloModule m
ENTRY e {
  x = s32[300000] parameter(0)
  ROOT r = s32[300000] custom-call(x), custom_call_target="Acme.ZeroOut", backend_config="{preserve_index = 234567 : i64}"
}
"""
    for jobs in (1, 2, 7):
        kept = assay.load(text).evaluate(large, jobs=jobs)
        assert (np.flatnonzero(kept).tolist(), kept[234567]) == ([234567], 234567)


def test_each_stage_inside_of_jit(library):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def agree(function, *arguments):
        """What it gives in jax.jit, and in a jit inside of another, which lowers to a call of a function."""
        found = assay.evaluate(jax.jit(function))(*arguments)
        again = assay.evaluate(jax.jit(lambda *x: jax.jit(function)(*x)))(*arguments)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(again), strict=True):
            assert np.array_equal(a, b)
        return found

    def first(x):
        return ops.call("Acme.ZeroOutFirst", [x], result=("s32", x.shape))

    def vector(x):
        return ops.call("Acme.ZeroOutVector", [x], result=("s32", x.shape))

    assert agree(lambda x: first(x) + 1, X).tolist() == [6, 1, 1, 1, 1]
    assert agree(vector, X).tolist() == [5, 0, 0, 0, 0]
    with pytest.raises(assay.EvaluationFailed,
                       match=r"op Acme.ZeroOutVector: expected a vector, got \[5,1\]"):
        agree(vector, X.reshape(5, 1))
    assert agree(lambda x: first(x) - library.zero_out(x, preserve_index=2), X).tolist() == [5, 0, -3, 0, 0]
    for dtype in (np.float32, np.int32, jnp.bfloat16):
        kept = agree(lambda x: library.zero_out(x * 2, preserve_index=1), X.astype(dtype))
        assert ([float(v) for v in kept], kept.dtype) == ([0, 8, 0, 0, 0], dtype)
    a, b = agree(lambda x: tuple(library.zero_out_each([x, x[1:3]])), X)
    assert (a.tolist(), b.tolist()) == ([5, 0, 0, 0, 0], [4, 0])
    a, b = agree(lambda x: tuple(library.zero_out_mixed([x, x.astype("float32") / 2])), X)
    assert (a.tolist(), b.tolist(), b.dtype) == ([5, 0, 0, 0, 0], [2.5, 0, 0, 0, 0], np.float32)
    # The shape comes from the shape function, while JAX traces.
    shapes = jax.eval_shape(lambda x: library.zero_out(x, preserve_index=1),
                            jax.ShapeDtypeStruct((3, 4), "float32"))
    assert (shapes.shape, shapes.dtype) == ((3, 4), np.float32)
    with pytest.raises(ValueError, match="no shape function.*ops.call"):
        jax.eval_shape(lambda x: library.zero_out_first(x), jax.ShapeDtypeStruct((3,), "int32"))
    # On several threads, and in a loop that JAX writes.
    large = jnp.arange(300_000, dtype="float32")
    kept = agree(lambda x: library.zero_out(x, preserve_index=234_567), large)
    assert (np.flatnonzero(kept).tolist(), kept[234_567]) == ([234_567], 234_567)
    turns = agree(
        lambda x: jax.lax.fori_loop(0, 4, lambda i, c: library.zero_out(c + 1, preserve_index=3), x), X)
    assert turns.tolist() == [0, 0, 0, 6, 0]


def test_libraries_that_are_refused_leave_nothing_behind(library, tmp_path):
    before = ops.names()
    for fault, kind, error in (("BAD_SPEC", assay.InvalidProgram, "f33"),
                               ("THROWS", assay.EvaluationFailed, "half-way"),
                               ("OTHER_VERSION", assay.EvaluationFailed, "version 77"),
                               ("NO_ENTRY_POINT", assay.EvaluationFailed, "exports no assay_abi_version")):
        path = tmp_path / f"{fault}.so"
        subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-O1", f"-I{ROOT}", f"-D{fault}",
                        str(ROOT / "tests/custom/libraries/broken.cc"), "-o", str(path)], check=True)
        with pytest.raises(kind, match=f"(?s){fault}.so: .*{error}"):
            ops.load_ops(path)
        assert ops.names() == before


def test_errors_name_the_operation(library):
    with pytest.raises(assay.EvaluationFailed,
                       match="op Acme.ZeroOut: preserve_index is 7, the input has 5 elements"):
        library.zero_out(X, preserve_index=7)
    with pytest.raises(assay.InvalidProgram, match="Acme.ZeroOut"):
        library.zero_out(X, preserve_index=-1)
    with pytest.raises(assay.InvalidProgram, match="Acme.ZeroOut"):
        library.zero_out(X.astype(np.int8))
    with pytest.raises(assay.EvaluationFailed, match="none.so"):
        ops.load_ops("none.so")


def test_programs_see_what_is_registered(library):
    text = """HloModule m
ENTRY e {
  x = s32[5] parameter(0)
  ROOT r = s32[5] custom-call(x), custom_call_target="Acme.ZeroOut", backend_config="{preserve_index = 1 : i64}"
}
"""
    for engine in ("exact", "reference", "fast"):
        assert assay.load(text).evaluate(X, engine=engine).tolist() == [0, 4, 0, 0, 0]
    again = assay.load(assay.load(text).to_mlir())
    assert again.evaluate(X, crosscheck="full").tolist() == [0, 4, 0, 0, 0]


@assay.op("Tests.Scaled", inputs=["x: T"], outputs=["y: T", "n: s64"],
          attrs=["T: {f32, f64}", "by: float = 2", "tag: string = ''"],
          shape=lambda x: [x, []])
def scaled(x, by):
    """x times by, and how many elements there are."""
    return (x * by).astype(x.dtype), np.int64(x.size)


@ops.gradient("Tests.Scaled")
def scaled_gradient(builder, by):
    element_type, sizes = builder.shape(builder.gradients[0])
    factor = builder.add("constant", [], str(by), f"{element_type}[]")
    factors = builder.add("broadcast", [factor], "dimensions={}",
                          f"{element_type}[{','.join(map(str, sizes))}]")
    return builder.add("multiply", [builder.gradients[0], factors])


def test_a_numpy_function_is_a_kernel():
    y, n = scaled(np.array([1.5, 2.0]), by=3)
    assert (y.tolist(), int(n), y.dtype) == ([4.5, 6.0], 2, np.float64)
    y, n = scaled(np.zeros((0, 2), np.float32), tag="ü")
    assert (y.shape, int(n)) == ((0, 2), 0)
    with pytest.raises(assay.InvalidProgram, match="registered already"):
        assay.op("Tests.Scaled", inputs=["x: f32"], outputs=["y: f32"])(lambda x: x)
    for wrong in (["x: f33"], ["x"], ["1x: f32"]):
        with pytest.raises(assay.InvalidProgram, match="Tests.Wrong"):
            assay.op("Tests.Wrong", inputs=wrong, outputs=["y: f32"])(lambda x: x)


def test_kernels_that_go_wrong_are_errors():
    def raises(x, mode):
        if mode == "raises":
            raise KeyError("on purpose")
        return {"dtype": x.astype(np.float64), "shape": x[:1], "many": (x, x), "none": []}[mode]

    faulty = assay.op("Tests.Faulty", inputs=["x: f32"], outputs=["y: f32"], attrs=["mode: string"])(raises)
    x = np.ones(3, np.float32)
    with pytest.raises(ValueError, match="no shape function"):
        faulty(x, mode="raises")
    for mode, error in (("raises", "raised KeyError"), ("dtype", "float64, wanted float32"),
                        ("shape", r"sizes \[1\]"),
                        ("many", "gave 2 results, wanted 1"), ("none", "gave 0 results")):
        with pytest.raises(assay.EvaluationFailed, match=f"(?s)op Tests.Faulty: .*{error}"):
            ops.call("Tests.Faulty", [x], {"mode": mode}, result=("f32", (3,)))


def test_gradients_are_checked_by_differences(library):
    x = np.linspace(-1, 2, 6).reshape(2, 3)
    assert ops.check_gradient("Acme.ZeroOut", [x], {"preserve_index": 4}).error < 1e-9
    assert ops.check_gradient("Tests.Scaled", [x], {"by": 3.0}).error < 1e-9
    wrong = assay.op("Tests.Cubed", inputs=["x: f64"], outputs=["y: f64"],
                     shape=lambda x: [x])(lambda x: x**3)
    # lacks a factor 3 x
    ops.gradient("Tests.Cubed")(lambda b: b.add("multiply", [b.gradients[0], b.inputs[0]]))
    found = ops.check_gradient("Tests.Cubed", [np.array([0.5, 2.0])])
    assert abs(found.error - 10) < 1e-6 and "input 0[1]" in found.where  # 3 x^2 = 12, here 2
    assert wrong(np.array([2.0])).tolist() == [8.0]
    assay.op("Tests.Plain", inputs=["x: f64"], outputs=["y: f64"], shape=lambda x: [x])(lambda x: x)
    with pytest.raises(assay.NotSupported, match="op Tests.Plain has registered no gradient"):
        ops.check_gradient("Tests.Plain", [x])
    ops.not_differentiable("Acme.ZeroOutVector")
    with pytest.raises(assay.InvalidProgram, match="Tests.Cubed"):
        ops.gradient("Tests.Cubed")(lambda b: None)
    bad = assay.op("Tests.Bad", inputs=["x: f64"], outputs=["y: f64"], shape=lambda x: [x])(lambda x: x)
    ops.gradient("Tests.Bad")(lambda b: b.add("nonsense", [b.gradients[0]]))
    with pytest.raises(assay.InvalidProgram, match="gradient of op Tests.Bad"):
        ops.check_gradient("Tests.Bad", [x])
    assert bad(x).tolist() == x.tolist()


def test_jax_programs_call_operations_and_differentiate_them(library):
    jax = pytest.importorskip("jax")

    def f(x):
        y, _ = scaled(x, by=3.0)
        return jax.numpy.sum(y * x + library.zero_out(x, preserve_index=1))

    x = np.array([1, 2, 3], np.float32)
    assert float(assay.evaluate(f)(x)) == 44  # 3 (1 + 4 + 9) + 2
    assert assay.evaluate(jax.grad(f))(x).tolist() == [6, 13, 18]  # 6 x, and 1 where it stays
    assert assay.evaluate(jax.jit(jax.value_and_grad(f)))(x)[0] == 44
    # Integers have no gradient, and an operation without one is an error only where it is asked for.
    def g(x, n):
        return jax.numpy.sum(x) + library.zero_out_each([n])[0]

    assert assay.evaluate(jax.grad(g))(x, X).tolist() == [1, 1, 1]
