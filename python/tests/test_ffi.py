"""Libraries of users of jax.ffi, compiled against jaxlib's headers, in JAX on the CPU and in Assay:
equal bits."""

import ctypes
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import assay

jax = pytest.importorskip("jax")
pytest.importorskip("jax.export")
jnp = jax.numpy
COMPILER = shutil.which("g++") or shutil.which("c++")
if COMPILER is None:
    pytest.skip("no C++ compiler", allow_module_level=True)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests/custom/ffi/jax"
HANDLERS = ["rms_norm", "rms_norm_forward", "rms_norm_backward", "attributes", "scheduled", "later"]


def compiled(source: pathlib.Path, output: pathlib.Path, *flags: str) -> None:
    command = [COMPILER, "-w", "-fPIC", "-O2", f"-I{jax.ffi.include_dir()}", *flags, str(source), "-o",
               str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("ffi") / "handlers.so"
    compiled(SOURCES / "handlers.cc", path, "-std=c++17", "-shared")
    loaded = ctypes.CDLL(str(path))
    for name in HANDLERS:
        capsule = jax.ffi.pycapsule(getattr(loaded, name))
        jax.ffi.register_ffi_target(name, capsule, platform="cpu")
        assay.register_ffi_target(name, capsule, platform="cpu")
    loaded.table_type.restype = loaded.table_type_info.restype = ctypes.c_void_p
    registration = {"type_id": capsule_of(loaded.table_type()),
                    "type_info": capsule_of(loaded.table_type_info())}
    jax.ffi.register_ffi_type("assay_tests.Table", registration, platform="cpu")
    assay.register_ffi_type("assay_tests.Table", registration)
    stages = {"instantiate": jax.ffi.pycapsule(loaded.make_table),
              "execute": jax.ffi.pycapsule(loaded.use_table)}
    jax.ffi.register_ffi_target("use_table", stages, platform="cpu")
    assay.register_ffi_target("use_table", stages)
    assay.register_ffi_target("scratch", jax.ffi.pycapsule(loaded.scratch))
    loaded.path = path
    return loaded


def capsule_of(address):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, None, None)


def agree(function, *arguments):
    """The function gives the same bits in JAX, and in Assay from each form that JAX lowers it to.
    Gives JAX's."""
    jitted = jax.jit(function)
    wanted = jax.tree.leaves(jitted(*arguments))
    lowered = jitted.lower(*arguments)
    proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    allowed = [jax.export.DisabledSafetyCheck.custom_call(name) for name in [*HANDLERS, "use_table"]]
    bytecode = jax.export.export(jitted, disabled_checks=allowed)(*arguments).mlir_module_serialized
    for program in (lowered.as_text(), lowered.as_text("hlo"), proto, bytecode):
        for engine in ("exact", "reference"):
            found = jax.tree.leaves(assay.load(program).evaluate(*map(np.asarray, arguments), engine=engine))
            assert len(found) == len(wanted)
            for a, b in zip(wanted, found):
                a = np.asarray(a)
                assert (a.dtype, a.shape) == (b.dtype, b.shape)
                assert a.tobytes() == np.ascontiguousarray(b).tobytes()
    return wanted


def sample(shape, dtype, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


def rms_norm(x, eps=1e-5):
    return jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")(
        x, eps=np.float32(eps))


@jax.custom_vjp
def differentiable(x):
    return rms_norm(x)


def forward(x):
    wide = jnp.float64 if x.dtype == jnp.float64 else jnp.float32
    y, scales = jax.ffi.ffi_call(
        "rms_norm_forward",
        (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(x.shape[:-1], wide)),
        vmap_method="broadcast_all")(x, eps=np.float32(1e-5))
    return y, (scales, x)


def backward(saved, g):
    scales, x = saved
    return (jax.ffi.ffi_call("rms_norm_backward", jax.ShapeDtypeStruct(x.shape, x.dtype),
                             vmap_method="broadcast_all")(scales, x, g),)


differentiable.defvjp(forward, backward)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", [(7,), (3, 40), (2, 3, 5), (4, 0), (0, 4)])
def test_rms_norm_has_the_bits_of_jax(library, dtype, shape):
    agree(rms_norm, sample(shape, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_its_gradient_has_the_bits_of_jax(library, dtype):
    x, weights = sample((3, 33), dtype), sample((3, 33), dtype, seed=1)
    (dx,) = agree(jax.grad(lambda x, w: (differentiable(x) * w).sum().astype("float32")), x, weights)
    assert np.isfinite(np.asarray(dx, np.float32)).all() and np.asarray(dx, np.float32).any()


def test_vmap_and_scan(library):
    agree(jax.vmap(lambda x: rms_norm(x, eps=0.5)), sample((4, 3, 6), "float32"))
    agree(lambda x: jax.lax.scan(lambda c, _: (rms_norm(c) + 1, c), x, None, length=4),
          sample((2, 9), "float32"))
    agree(jax.vmap(lambda x: jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype),
                                              vmap_method="sequential")(
        x, eps=np.float32(1))), sample((3, 8), "float64"))


def test_layouts_are_those_that_the_call_asks_for(library):
    def columns(x):
        return jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype), input_layouts=[(1, 0)],
                                output_layouts=(1, 0))(x, eps=np.float32(1e-5))

    x = sample((6, 20), "float32")
    (y,) = agree(columns, x)
    assert not np.array_equal(np.asarray(y), np.asarray(jax.jit(rms_norm)(x)))


def test_attributes_of_every_kind(library):
    def call(**changes):
        attributes = {"flag": True, "number": np.int32(-7), "real": 0.1, "name": "a\"b\n",
                      "list": np.array([1, 2, 3]), "more": {"inner": np.uint8(200)}} | changes
        return lambda: jax.ffi.ffi_call("attributes", jax.ShapeDtypeStruct((), jnp.float64))(**attributes)

    values = {float(agree(call(**changes))[0])
              for changes in ({}, {"flag": False}, {"number": np.int32(8)}, {"real": 1e-300}, {"name": ""},
                              {"list": np.array([], np.int64)}, {"list": np.full(100, 3)},
                              {"more": {"inner": np.uint8(0)}})}
    assert len(values) == 8
    for changes, message in (({"number": np.int64(1)}, "expected S32 but got S64"),
                             ({"real": "x"}, "scalar but got string"), ({"more": {}}, "inner")):
        with pytest.raises(assay.EvaluationFailed, match=re.escape(message)):
            assay.load(jax.jit(call(**changes)).lower().as_text()).evaluate()


def test_state_of_the_instantiate_stage(library):
    call = lambda x, factor: jax.ffi.ffi_call("use_table",
                                              jax.ShapeDtypeStruct(x.shape, x.dtype))(x, factor=factor)
    x = jnp.arange(12).reshape(3, 4)
    agree(lambda x: (call(x, 3), call(x, -5)), x)
    with pytest.raises(assay.EvaluationFailed,
                       match="'use_table', instantiate: INVALID_ARGUMENT: factor is 0"):
        assay.load(jax.jit(lambda x: call(x, 0)).lower(x).as_text()).evaluate(np.asarray(x))


def test_tasks_and_futures(library):
    x = jnp.arange(1000, dtype=jnp.int32)
    agree(lambda x: jax.ffi.ffi_call("scheduled", jax.ShapeDtypeStruct(x.shape, x.dtype))(x), x)
    text = jax.jit(lambda x: jax.ffi.ffi_call("scheduled", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)).lower(
        x).as_text()
    for jobs in (1, 2, 5):
        assert (assay.load(text).evaluate(np.asarray(x), jobs=jobs) == np.arange(1000) ** 2).all()
    agree(lambda x: jax.ffi.ffi_call("later", jax.ShapeDtypeStruct((), jnp.int32))(x), jnp.int32(41))


def test_scratch_memory(library):
    # XLA:CPU has none for handlers.
    text = jax.jit(lambda: jax.ffi.ffi_call("scratch", jax.ShapeDtypeStruct((), jnp.int32))()).lower(
        ).as_text()
    assert assay.load(text).evaluate() == 0x01010101
    with pytest.raises(assay.EvaluationFailed, match="scratch"):
        assay.load(text).evaluate(memory_limit=500)


def test_errors_name_target_stage_and_code(library):
    x = sample((3,), "float32")
    bad = jax.jit(lambda x: rms_norm(x, eps=-1)).lower(x).as_text()
    with pytest.raises(assay.EvaluationFailed,
                       match="target 'rms_norm', execute: INVALID_ARGUMENT: eps is negative"):
        assay.load(bad).evaluate(np.asarray(x))
    other = jax.jit(rms_norm).lower(x.astype("float16")).as_text()
    with pytest.raises(assay.NotSupported, match="UNIMPLEMENTED: want f32, f64 or bf16"):
        assay.load(other).evaluate(np.asarray(x, np.float16))
    with pytest.raises(assay.InvalidProgram, match="attribute 'list' is a list"):
        assay.load(jax.jit(lambda: jax.ffi.ffi_call("attributes", jax.ShapeDtypeStruct((), jnp.float64))(
            list=(1, 2))).lower().as_text())


def test_registration(library):
    capsule = jax.ffi.pycapsule(library.rms_norm)
    assay.register_ffi_target("rms_norm", capsule)  # the same again
    with pytest.raises(assay.EvaluationFailed, match="registered already"):
        assay.register_ffi_target("rms_norm", jax.ffi.pycapsule(library.later))
    with pytest.raises(assay.EvaluationFailed, match="Assay itself defines"):
        assay.register_ffi_target("TopK", capsule)
    with pytest.raises(ValueError, match="platform"):
        assay.register_ffi_target("other", capsule, platform="CUDA")
    with pytest.raises(ValueError, match="api_version"):
        assay.register_ffi_target("other", capsule, api_version=0)
    with pytest.raises(ValueError, match="stage"):
        assay.register_ffi_target("other", {"excute": capsule})
    with pytest.raises(TypeError, match="PyCapsule"):
        assay.register_ffi_target("other", library.later)


def test_functions_of_jax_are_evaluated(library):
    x = np.asarray(sample((3, 4), "float32"))
    assert np.array_equal(assay.evaluate(rms_norm)(x), np.asarray(jax.jit(rms_norm)(x)))


def test_a_library_that_registers_its_handlers_by_itself(tmp_path):
    path = tmp_path / "registering.so"
    compiled(SOURCES / "registering.cc", path, "-std=c++17", "-shared")
    assert assay.load_ffi_library(path) == ["assay_tests.AddOffset"]
    assert assay.load_ffi_library(path) == ["assay_tests.AddOffset"]
    text = jax.jit(
        lambda x: jax.ffi.ffi_call("assay_tests.AddOffset", jax.ShapeDtypeStruct(x.shape, x.dtype))(
        x, offset=np.int32(100))).lower(jnp.arange(3, dtype=jnp.int32)).as_text()
    assert assay.load(text).evaluate(np.arange(3, dtype=np.int32)).tolist() == [100, 101, 102]
    with pytest.raises(assay.EvaluationFailed, match="nowhere.so"):
        assay.load_ffi_library(tmp_path / "nowhere.so")


def test_jaxlibs_own_handlers_of_lapack():
    """They are compiled against the same header, and run by XLA:CPU.
    Here they get names that nobody else has."""
    lapack = pytest.importorskip("jaxlib.cpu._lapack")
    lapack.initialize()
    for name, handler in lapack.registrations().items():
        if name.endswith("_ffi"):
            assay.register_ffi_target(f"jaxlib_{name}", handler[0] if isinstance(handler, tuple) else handler)
    x = np.random.default_rng(0).normal(size=(3, 5, 5))
    linalg = jnp.linalg
    for function in (linalg.inv, linalg.det, linalg.qr, linalg.eigvals, linalg.svd,
                     lambda x: linalg.eigh(x + x.mT),
                     lambda x: linalg.cholesky(x @ x.mT), jax.scipy.linalg.schur):
        argument = x[0] if function is jax.scipy.linalg.schur else x
        text = jax.jit(function).lower(argument).as_text()
        assert "@lapack_" in text
        found = assay.load(text.replace("@lapack_", "@jaxlib_lapack_")).evaluate(argument)
        for a, b in zip(jax.tree.leaves(jax.jit(function)(argument)), jax.tree.leaves(found), strict=True):
            # the products around the calls are exact here
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-14)


def test_the_interface_is_that_of_jaxlibs_header(tmp_path):
    """Every struct, field and number of the header stands in abi.cc,
    which compiles where ours are the same."""
    checks = (SOURCES / "abi.cc").read_text()
    compiled(SOURCES / "abi.cc", tmp_path / "abi.o", "-std=c++20", "-c", f"-I{ROOT}")
    header = (pathlib.Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    header = re.sub(r"//[^\n]*", "", header)
    structs = dict(re.findall(r"struct (XLA_FFI_\w+) \{(.*?)\n\}", header, re.S))
    assert len(structs) > 30
    for name, body in structs.items():
        fields = re.findall(r"\b_XLA_FFI_API_STRUCT_FIELD\((\w+)\)", body)
        fields += re.findall(r"\(\*(\w+)\)\(", body)
        fields += re.findall(r"[\w*]\s+\*{0,2}(\w+);", body)
        assert fields, name
        for field in fields:
            if field in ("struct_size", "extension_start") and re.search(rf"HEADED\(\w+, {name}\)", checks):
                continue
            assert re.search(rf"FIELD\(\w+, \w+, {name}, {field}\)", checks), f"{name}.{field}"
    for number in re.findall(r"\b(XLA_FFI_\w+) = \d+,", header):
        short = number.removeprefix("XLA_FFI_DataType_")
        assert number in checks or f"DATA_TYPE(k{short}" in checks or re.search(
            rf"DATA_TYPE\(\w+, {short}\)", checks), number
