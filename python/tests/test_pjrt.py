"""JAX on the plugin (docs/jax.md), beside XLA:CPU in one process: the same functions on both devices."""

import os

os.environ.setdefault("ASSAY_DEVICES", "4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax, random  # noqa: E402
import assay.jax_plugin  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

jsp = jax.scipy
linalg = jnp.linalg

if not assay.jax_plugin.LIBRARY.exists():
    pytest.skip(f"no plugin: {assay.jax_plugin.LIBRARY} is not there", allow_module_level=True)
ASSAY = jax.devices("assay")
CPU = jax.devices("cpu")[0]
rng = np.random.default_rng(0)
A = rng.normal(size=(4, 5)).astype(np.float32)
B = rng.normal(size=(5, 3)).astype(np.float32)
S = rng.normal(size=(4, 4)).astype(np.float32)
SPD = (S @ S.T + 4 * np.eye(4)).astype(np.float32)
V = rng.normal(size=(8,)).astype(np.float32)
U = rng.uniform(0.1, 0.9, size=(3, 4)).astype(np.float32)
I = rng.integers(-50, 50, size=(3, 4)).astype(np.int32)
IMAGE = rng.normal(size=(1, 6, 6, 2)).astype(np.float32)
KERNEL = rng.normal(size=(3, 3, 2, 4)).astype(np.float32)
C = (A[:, :4] + 1j * S).astype(np.complex64)
KEY = np.array([1, 2], np.uint32)


def key(words):
    return random.wrap_key_data(words)


# name -> (function, arguments). XLA:CPU rounds more than once: results are compared within 1e-4,
# integers exactly.
FUNCTIONS = {}
for name, arguments in {
    "sin": (A,), "cos": (A,), "tan": (A,), "arcsin": (U,), "arccos": (U,), "arctan": (A,), "sinh": (A,),
    "cosh": (A,),
    "tanh": (A,), "arcsinh": (A,), "arccosh": (1 + U,), "arctanh": (U,), "exp": (A,), "exp2": (A,),
    "expm1": (A,),
    "log": (U,), "log1p": (U,), "log2": (U,), "log10": (U,), "sqrt": (U,), "cbrt": (A,), "square": (A,),
    "abs": (A,),
    "sign": (A,), "floor": (A,), "ceil": (A,), "rint": (A,), "trunc": (A,), "reciprocal": (U,),
    "negative": (A,),
    "isfinite": (A,), "isnan": (A,), "signbit": (A,), "sinc": (A,), "i0": (A,), "nan_to_num": (A,),
    "deg2rad": (A,),
    "add": (A, A), "subtract": (A, A), "multiply": (A, A), "divide": (A, A), "power": (U, U),
    "maximum": (A, -A),
    "minimum": (A, -A), "arctan2": (A, A), "hypot": (A, A), "fmod": (A, A), "remainder": (A, A),
    "logaddexp": (A, A),
    "copysign": (A, A), "nextafter": (A, A), "heaviside": (A, A), "floor_divide": (I, I | 1),
    "bitwise_and": (I, I),
    "bitwise_or": (I, I), "bitwise_xor": (I, I), "invert": (I,), "left_shift": (I, I & 3),
    "right_shift": (I, I & 3),
    "gcd": (I, I), "lcm": (I & 7, I & 7), "equal": (I, I), "less": (A, -A), "sum": (A,), "prod": (A,),
    "mean": (A,),
    "std": (A,), "var": (A,), "max": (A,), "min": (A,), "argmax": (A,), "argmin": (A,), "cumsum": (V,),
    "cumprod": (V,),
    "sort": (A,), "argsort": (A,), "median": (A,), "ptp": (A,), "any": (I,), "all": (I,),
    "count_nonzero": (I,),
    "matmul": (A, B), "dot": (A, B), "outer": (V, V), "inner": (V, V), "kron": (S, S), "trace": (S,),
    "diag": (V,),
    "tril": (S,), "triu": (S,), "transpose": (A,), "flip": (A,), "ravel": (A,), "diff": (V,),
    "convolve": (V, V),
    "correlate": (V, V), "gradient": (V,), "cross": (A[:3, :3], S[:3, :3]), "vander": (V,), "unwrap": (V,),
    "searchsorted": (np.sort(V), A), "interp": (U[0], np.sort(V), V), "real": (C,), "imag": (C,),
    "conj": (C,),
    "angle": (C,), "packbits": (I > 0,), "histogram": (V,), "nanmax": (A,), "cov": (A,), "corrcoef": (A,),
    "apply_over_axes": None,
}.items():
    if arguments is not None:
        FUNCTIONS[f"numpy.{name}"] = (getattr(jnp, name), arguments)
for name, arguments in {"cholesky": (SPD,), "qr": (A,), "inv": (SPD,), "det": (S,), "slogdet": (SPD,),
                        "solve": (SPD, S),
                        "eigh": (SPD,), "eigvalsh": (SPD,), "eigvals": (S,), "pinv": (A,), "norm": (A,),
                        "matrix_rank": (A,), "lstsq": (SPD, S)}.items():
    FUNCTIONS[f"linalg.{name}"] = (getattr(linalg, name), arguments)
FUNCTIONS |= {
    "linalg.svd": (lambda x: linalg.svd(x, compute_uv=False), (A,)),
    "linalg.svd reassembled": (lambda x: (lambda u, s, v: (u * s) @ v)(*linalg.svd(x, full_matrices=False)),
                               (A,)),
    "linalg.matrix_power": (lambda x: linalg.matrix_power(x, 3), (S,)),
    "linalg.expm": (jsp.linalg.expm, (S,)),
    "scipy.lu": (jsp.linalg.lu, (S,)),
    "scipy.schur": (lambda x: (lambda t, z: z @ t @ z.T)(*jsp.linalg.schur(x)), (S,)),
    "scipy.solve_triangular": (lambda a, b: jsp.linalg.solve_triangular(a, b, lower=True), (SPD, S)),
    "scipy.cho_solve": (lambda a, b: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a), b), (SPD, S)),
    "scipy.hessenberg": (jsp.linalg.hessenberg, (S,)),
}
for name, arguments in {"erf": (A,), "erfc": (A,), "erfinv": (U,), "gammaln": (U,), "digamma": (U,),
                        "i0e": (A,),
                        "i1e": (A,), "expit": (A,), "logit": (U,), "ndtr": (A,), "ndtri": (U,), "entr": (U,),
                        "xlogy": (U, U), "xlog1py": (U, U), "log_ndtr": (A,), "betaln": (U, U),
                        "gamma": (1 + U,),
                        "logsumexp": (A,), "betainc": (U, U, U), "gammainc": (U, U), "gammaincc": (U, U),
                        "rel_entr": (U, U), "kl_div": (U, U), "zeta": (2 + U, U)}.items():
    FUNCTIONS[f"scipy.special.{name}"] = (getattr(jsp.special, name), arguments)
for name in ("relu", "gelu", "silu", "softplus", "log_softmax", "softmax", "elu", "selu", "celu",
             "leaky_relu", "sigmoid",
             "hard_tanh", "hard_swish", "soft_sign", "relu6", "log_sigmoid", "squareplus", "mish",
             "standardize"):
    FUNCTIONS[f"nn.{name}"] = (getattr(jax.nn, name), (A,))
for name in ("fft", "ifft", "rfft", "fft2", "fftshift", "rfft2", "ihfft"):
    FUNCTIONS[f"fft.{name}"] = (getattr(jnp.fft, name), (S,))
FUNCTIONS |= {
    "fft.irfft": (jnp.fft.irfft, (C,)),
    "random.bits": (lambda k: random.bits(key(k), (5,)), (KEY,)),
    "random.uniform": (lambda k: random.uniform(key(k), (5,)), (KEY,)),
    "random.normal": (lambda k: random.normal(key(k), (5,)), (KEY,)),
    "random.randint": (lambda k: random.randint(key(k), (5,), 0, 100), (KEY,)),
    "random.permutation": (lambda k: random.permutation(key(k), 10), (KEY,)),
    "random.categorical": (lambda k: random.categorical(key(k), V, shape=(4,)), (KEY,)),
    "random.gamma": (lambda k: random.gamma(key(k), 2.0, (3,)), (KEY,)),
    "random.poisson": (lambda k: random.poisson(key(k), 3.0, (3,)), (KEY,)),
    "random.beta": (lambda k: random.beta(key(k), 2.0, 3.0, (3,)), (KEY,)),
    "random.truncated_normal": (lambda k: random.truncated_normal(key(k), -1, 1, (3,)), (KEY,)),
    "random.split": (lambda k: random.key_data(random.split(key(k), 3)), (KEY,)),
    "image.resize": (lambda x: jax.image.resize(x, (1, 9, 9, 2), "bilinear"), (IMAGE,)),
    "image.resize cubic": (lambda x: jax.image.resize(x, (1, 4, 4, 2), "cubic"), (IMAGE,)),
    "lax.conv": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME",
                                                       dimension_numbers=("NHWC", "HWIO", "NHWC")),
                 (IMAGE, KERNEL)),
    "lax.reduce_window": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
                          (IMAGE,)),
    "lax.top_k": (lambda x: lax.top_k(x, 3), (A,)),
    "lax.approx_max_k": (lambda x: lax.approx_max_k(x, 2)[0], (A,)),
    "lax.scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x), (V,)),
    "lax.while_loop": (lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * x), (0, x)),
                       (V,)),
    "lax.fori_loop": (lambda x: lax.fori_loop(0, 4, lambda i, s: s + x[i], 0.0), (V,)),
    "lax.cond": (lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (V,)),
    "lax.switch": (lambda x: lax.switch(2, [jnp.sin, jnp.cos, jnp.exp], x), (V,)),
    "lax.map": (lambda x: lax.map(lambda v: v * v, x), (V,)),
    "lax.associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), (V,)),
    "lax.cummax": (lax.cummax, (V,)),
    "lax.gather": (lambda x, i: x[i], (V, I & 7)),
    "lax.scatter": (lambda x, i: x.at[i].add(1.0), (V, I & 7)),
    "lax.dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2)), (A, np.int32(1))),
    "lax.population_count": (lax.population_count, (I,)),
    "lax.clz": (lax.clz, (I,)),
    "lax.bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), (A,)),
    "lax.reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), (A,)),
    "lax.sort several": (lambda a: lax.sort((a, -a), num_keys=1), (V,)),
    "einsum": (lambda a, b: jnp.einsum("ij,jk->ki", a, b), (A, B)),
    "grad": (jax.grad(lambda x: jnp.sum(jnp.tanh(x @ x.T))), (A,)),
    "value_and_grad": (jax.value_and_grad(lambda x: jnp.sum(jnp.sin(x) ** 2)), (A,)),
    "hessian": (jax.hessian(lambda x: jnp.sum(x ** 3)), (V,)),
    "jacfwd": (jax.jacfwd(jnp.sin), (V,)), "jacrev": (jax.jacrev(jnp.sin), (V,)),
    "jvp": (lambda x: jax.jvp(jnp.sin, (x,), (x,)), (V,)),
    "vmap": (jax.vmap(lambda x: x / jnp.sum(x)), (U,)),
    "checkpoint": (jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x))))), (V,)),
    "grad of svd": (jax.grad(lambda x: jnp.sum(linalg.svd(x, compute_uv=False))), (A,)),
    "grad of cholesky": (jax.grad(lambda x: jnp.sum(linalg.cholesky(x))), (SPD,)),
    "grad of scan": (jax.grad(lambda x: lax.scan(lambda c, v: (c * v, None), 1.0, x)[0]), (V,)),
    "custom_jvp": (jax.grad(lambda x: jnp.sum(jax.nn.relu(x))), (V,)),
    "x64 sum": (lambda x: jnp.sum(x.astype(jnp.float16)), (A,)),
    "bf16 dot": (lambda a, b: (a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16)).astype(jnp.float32), (A, B)),
    "attention": (lambda x: jax.nn.dot_product_attention(x, x, x),
                  (IMAGE[:, :, :2].transpose(0, 1, 3, 2)[..., None].repeat(2, -1)[:, :, :, 0],)),
    "one_hot": (lambda i: jax.nn.one_hot(i, 5), (I & 3,)),
    "fori with static shapes": (lambda x: jnp.where(x > 0, x, 0).at[0].set(2), (V,)),
}
DECOMPOSITIONS = {"linalg.qr", "linalg.eigh", "scipy.lu"}


def on(device, function, arguments):
    with jax.default_device(device):
        return jax.tree.map(np.asarray, jax.jit(function)(*[jnp.asarray(a) for a in arguments]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_xla_cpu(name):
    function, arguments = FUNCTIONS[name]
    found, wanted = on(ASSAY[0], function, arguments), on(CPU, function, arguments)
    for f, w in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert f.dtype == w.dtype and f.shape == w.shape
        if np.issubdtype(f.dtype, np.inexact):
            if name in ("linalg.eigvals",):
                f, w = np.sort_complex(f), np.sort_complex(w)
            if name == "linalg.eigh" and f.ndim == 2:  # vectors have either sign
                at = np.abs(w).argmax(axis=0), np.arange(w.shape[1])
                f, w = f * np.sign(f[at]), w * np.sign(w[at])
            # XLA:CPU keeps the product of bf16 in f32.
            rtol = 1e-2 if name.startswith("bf16") else 2e-3 if "random" in name else 1e-4
            np.testing.assert_allclose(f, w, rtol=rtol, atol=2e-4)
        else:
            np.testing.assert_array_equal(f, w)


def test_results_lie_on_the_device_and_are_exact():
    with jax.default_device(ASSAY[0]):
        x = jnp.asarray(np.array([0.1, 1e8, -1e8], np.float32))
        assert x.devices() == {ASSAY[0]}
        assert float(jnp.sum(x)) == np.float32(0.1)  # whatever the order


def test_the_platform_says_which_engine_runs():
    assert ASSAY[0].platform == "assay"
    assert ASSAY[0].device_kind == "assay exact"
    assert "engine exact, seed 42" in ASSAY[0].client.platform_version


def test_cpu_stays_the_default():
    if not os.environ.get("JAX_PLATFORMS"):
        assert jax.devices()[0].platform == "cpu"


@pytest.mark.parametrize(
    "dtype", ["bool", "int4", "uint4", "int2", "uint2", "int8", "uint8", "int16", "int32", "uint32",
                                   "float16", "bfloat16", "float32", "complex64", "float8_e4m3fn",
              "float8_e5m2",
                                   "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"])
def test_arrays_go_in_and_out(dtype):
    dtype = jnp.dtype(dtype)
    values = np.arange(24).reshape(2, 3, 4) % 2
    if jnp.issubdtype(dtype, jnp.signedinteger):
        values = -values
    if dtype == "float8_e8m0fnu":
        values = values + 1
    array = values.astype(dtype)
    for view in (array, array.T, array[::-1, :, ::2], array[1:1]):
        there = jax.device_put(view, ASSAY[0])
        assert there.dtype == dtype
        np.testing.assert_array_equal(np.asarray(there), view)
        np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x[..., None])(there))[..., 0], view)
        np.testing.assert_array_equal(np.asarray(jax.device_put(there, ASSAY[-1])), view)
        np.testing.assert_array_equal(np.asarray(jax.device_put(there, CPU)), view)


def test_a_large_array_is_not_copied_on_its_way_in():
    array = rng.normal(size=(256, 256)).astype(np.float32)
    there = jax.device_put(array, ASSAY[0])
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x * 2)(there)), array * 2)
    del array  # the buffer keeps it
    assert np.isfinite(np.asarray(there)).all()


def test_donation_deletes_the_argument():
    with jax.default_device(ASSAY[0]):
        x = jnp.arange(5.0)
        y = jax.jit(lambda v: v + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(np.asarray(y), np.arange(5.0) + 1)
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_what_numpy_sees_of_a_donated_buffer_stays():
    with jax.default_device(ASSAY[0]):
        x = jnp.arange(100000.0) * 1
        seen = np.asarray(x)
        jax.jit(lambda v: v + 1, donate_argnums=0)(x).block_until_ready()
    np.testing.assert_array_equal(seen, np.arange(100000.0))


def test_compiled_programs_say_what_they_are():
    with jax.default_device(ASSAY[0]):
        compiled = jax.jit(lambda x, y: jnp.sin(x) @ y).lower(A, B).compile()
    assert "sine" in compiled.as_text() and "dot" in compiled.as_text()
    costs = compiled.cost_analysis()
    assert costs["flops"] >= 2 * 4 * 5 * 3 and costs["bytes accessed"] > 0
    assert compiled.memory_analysis().argument_size_in_bytes == A.nbytes + B.nbytes


def test_executables_are_serialized():
    from jax.experimental import serialize_executable
    with jax.default_device(ASSAY[0]):
        compiled = jax.jit(lambda x: x * 3).lower(V).compile()
        again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled),
                                                          backend="assay", execution_devices=[ASSAY[0]])
        np.testing.assert_array_equal(np.asarray(again(V)), V * 3)


def test_errors_have_assays_words_and_a_code():
    import jaxlib
    with jax.default_device(ASSAY[0]), pytest.raises(jax.errors.JaxRuntimeError,
                                                     match="UNIMPLEMENTED.*nobody_has_this"):
        jax.jit(lambda x: jax.ffi.ffi_call("nobody_has_this", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))(V)
    del jaxlib


def test_callbacks(capfd):
    seen = []

    def function(x):
        jax.debug.print("x has {n}", n=x.sum())
        jax.debug.callback(lambda v: seen.append(v), x)
        y = jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        z = jax.experimental.io_callback(lambda v: np.float32(v.sum()), jax.ShapeDtypeStruct((), np.float32),
                                         x, ordered=True)
        return y, z

    with jax.default_device(ASSAY[0]):
        y, z = jax.jit(function)(jnp.arange(4.0))
        jax.effects_barrier()
        np.testing.assert_array_equal(np.asarray(y), [0, 2, 4, 6])
        assert float(z) == 6 and len(seen) == 1
        assert "x has 6.0" in capfd.readouterr().out
        with pytest.raises(jax.errors.JaxRuntimeError, match="a reason of its own"):
            def fail(v):
                raise ValueError("a reason of its own")
            jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((4,), np.float32), x))(
                jnp.arange(4.0))


def test_checkify():
    from jax.experimental import checkify
    with jax.default_device(ASSAY[0]):
        error, _ = jax.jit(checkify.checkify(lambda x: jnp.log(checkify.check(x > 0, "x is {x}", x=x) or x)))(
            -1.0)
    assert "x is -1.0" in error.get()


def test_handlers_of_jax_ffi(tmp_path):
    import ctypes
    import pathlib
    import shutil
    import subprocess
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = pathlib.Path(__file__).resolve().parents[2] / "tests/custom/ffi/jax/handlers.cc"
    library = tmp_path / "handlers.so"
    subprocess.run(
        [compiler, "-w", "-fPIC", "-O1", "-std=c++17", "-shared", f"-I{jax.ffi.include_dir()}", source, "-o",
                    library], check=True)
    loaded = ctypes.CDLL(str(library))
    capsule = jax.ffi.pycapsule(loaded.rms_norm)
    for platform in ("assay", "cpu"):
        jax.ffi.register_ffi_target("pjrt_rms_norm", capsule, platform=platform)

    def norm(x):
        return jax.ffi.ffi_call("pjrt_rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype),
                                vmap_method="broadcast_all")(x, eps=np.float32(1e-5))

    np.testing.assert_array_equal(on(ASSAY[0], norm, (A,)), on(CPU, norm, (A,)))
    with pytest.raises(ValueError, match="pjrt_rms_norm"):
        jax.ffi.register_ffi_target("pjrt_rms_norm", jax.ffi.pycapsule(loaded.attributes), platform="assay")


def test_layouts():
    from jax.experimental.layout import Format, Layout
    one = jax.sharding.SingleDeviceSharding(ASSAY[0])
    columns = Format(Layout((1, 0)), one)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = jax.device_put(x, columns)
    assert there.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(np.asarray(there), x)
    given = jax.jit(lambda v: v + 1, in_shardings=columns, out_shardings=columns)(there)
    assert given.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(np.asarray(given), x + 1)
    np.testing.assert_array_equal(np.asarray(jax.device_put(given, CPU)), x + 1)


def test_export():
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(lambda x: jnp.sin(x)), platforms=["assay"])(V)
    with jax.default_device(ASSAY[0]):
        found = jax.export.deserialize(exported.serialize()).call(jnp.asarray(V))
    np.testing.assert_allclose(np.asarray(found), np.sin(V), rtol=1e-6)


def test_threads():
    import concurrent.futures
    function = jax.jit(lambda x: jnp.sum(x * x))

    def one(n):
        x = jax.device_put(np.full((100,), n, np.float32), ASSAY[n % len(ASSAY)])
        return [float(function(x)) for _ in range(50)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for n, results in enumerate(pool.map(one, range(8))):
            assert results == [100.0 * n * n] * 50


# --- Several devices ---

several = pytest.mark.skipif(len(ASSAY) < 4,
                             reason="JAX was asked for its devices before this module: want 4")


def mesh():
    return Mesh(np.array(ASSAY[:4]).reshape(2, 2), ("a", "b"))


@several
@pytest.mark.parametrize("spec", [P("a", "b"), P("b", "a"), P(("a", "b")), P(None, "a"), P()])
def test_partitioned_programs(spec):
    x = rng.normal(size=(8, 8)).astype(np.float32)
    sharded = jax.device_put(x, NamedSharding(mesh(), spec))
    np.testing.assert_array_equal(np.asarray(sharded), x)
    y = jax.jit(lambda v: v * 2)(sharded)
    assert y.sharding.is_equivalent_to(sharded.sharding, 2)
    np.testing.assert_array_equal(np.asarray(y), x * 2)
    for shard in y.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), (x * 2)[shard.index])
    z = jax.jit(lambda v: v @ v.T, out_shardings=NamedSharding(mesh(), P("b")))(sharded)
    alone = on(ASSAY[0], lambda v: v @ v.T, (x,))
    np.testing.assert_array_equal(np.asarray(z), alone)  # sums are exact, however they are cut


@several
def test_shard_map():
    x = np.arange(32, dtype=np.float32).reshape(8, 4)

    def local(v):
        assert v.shape == (4, 2)
        return lax.psum(v, "b"), lax.all_gather(v, "a"), lax.ppermute(v, "a", [(0, 1), (1, 0)])

    total, gathered, swapped = jax.jit(jax.shard_map(local, mesh=mesh(), in_specs=P("a", "b"),
                                                     out_specs=(P("a"), P(None, "a", "b"), P("a", "b")),
                                                     check_vma=False))(x)
    np.testing.assert_array_equal(np.asarray(total), x[:, :2] + x[:, 2:])
    np.testing.assert_array_equal(np.asarray(swapped), np.concatenate([x[4:], x[:4]]))
    assert gathered.shape == (2, 8, 4)


@several
def test_gradients_of_a_data_parallel_step():
    w, x = rng.normal(size=(4, 3)).astype(np.float32), rng.normal(size=(8, 4)).astype(np.float32)
    loss = lambda weights, batch: jnp.mean(jnp.tanh(batch @ weights) ** 2)
    sharded = jax.device_put(x, NamedSharding(mesh(), P("a")))
    whole = jax.device_put(w, NamedSharding(mesh(), P()))
    np.testing.assert_array_equal(np.asarray(jax.jit(jax.grad(loss))(whole, sharded)),
                                  on(ASSAY[0], jax.grad(loss), (w, x)))


@several
def test_a_callback_of_a_partitioned_program_runs_once(capfd):
    x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh(), P("a")))
    jax.jit(lambda v: (jax.debug.print("sum {s}", s=v.sum()), v + 1)[1])(x).block_until_ready()
    jax.effects_barrier()
    assert capfd.readouterr().out.count("sum 28.0") == 1


@several
def test_copies_between_devices_and_memories():
    x = jax.device_put(V, ASSAY[1])
    for device in ASSAY:
        there = jax.device_put(x, device)
        assert there.devices() == {device}
        np.testing.assert_array_equal(np.asarray(there), V)
    host = jax.device_put(x, x.sharding.with_memory_kind("pinned_host"))
    assert host.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(host), V)


# --- Other processes ---


def run_alone(code, **environment):
    import subprocess
    import sys
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "JAX_PLATFORMS": "assay", **environment})
    return done.stdout, done.stderr


def test_the_platform_alone_has_another_engine_and_callbacks():
    out, err = run_alone("import jax, jax.numpy as jnp; print(jax.devices()[0].device_kind, len(jax.devices()));"
                         "print(jax.jit(lambda x: jax.pure_callback(lambda v: v * 2, x, jnp.sin(x)))(jnp.zeros(3)))",
                         ASSAY_ENGINE="fast", ASSAY_CROSSCHECK="full", ASSAY_DEVICES="3")
    assert out.splitlines() == ["assay fast, crosscheck full 3", "[0. 0. 0.]"], err
    assert "experimental" not in err


def test_a_limit_is_a_resource_that_is_exhausted():
    out, err = run_alone("import jax, jax.numpy as jnp; jax.jit(lambda x: jnp.outer(x, x) @ jnp.outer(x, x))(jnp.ones(1000))",
                         ASSAY_MEMORY_LIMIT="100000")
    assert "RESOURCE_EXHAUSTED: memory in bytes" in err and not out


def test_a_wrong_option_is_named():
    assert "option ASSAY_ENGINE is 'quick', want exact, fast, gpu, gpu-fast or reference" in run_alone(
        "import jax; jax.devices()", ASSAY_ENGINE="quick")[1]
