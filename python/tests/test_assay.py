"""The Python package against NumPy, mpmath-like hand values and XLA's own answers."""

import ctypes
import pathlib
import signal
import threading
import time

import ml_dtypes
import numpy as np
import pytest

import assay

ADD = """HloModule add
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[3] add(x, y)
}
"""
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "golden" / "programs"


def test_evaluates_text_and_owns_its_result():
    x = np.float32([1, 2, 3])
    z = assay.load(ADD).evaluate(x, x)
    assert z.dtype == np.float32 and z.tolist() == [2, 4, 6]
    z[0] = 7
    assert x[0] == 1


def test_an_identity_does_not_alias_its_argument():
    module = assay.load("HloModule m\nENTRY e { ROOT x = f32[1000] parameter(0) }\n")
    x = np.arange(1000, dtype=np.float32)
    y = module.evaluate(x)
    y[0] = 7
    assert x[0] == 0


def test_parameters_and_result_are_described():
    module = assay.load("HloModule m\nENTRY e { x = (f32[2], s8[]) parameter(0)\n ROOT y = (f32[2], s8[]) copy(x) }\n")
    assert module.parameters == [[("f32", (2,)), ("s8", ())]]
    first, second = module.evaluate((np.float32([1, 2]), np.int8(-3)))
    assert first.tolist() == [1, 2] and second.shape == () and second == -3
    assert "arg0.0" in repr(module)


def test_every_form_says_the_same():
    module = assay.load("HloModule m\nENTRY e { x = f32[3] parameter(0)\n ROOT y = f32[3] exponential(x) }\n")
    x = np.float32([-1, 0, 2.5])
    exact = module.evaluate(x).tobytes()
    assert "stablehlo.exponential" in module.to_mlir()
    for form in (module.to_hlo(), module.to_mlir(), module.to_proto()):
        assert assay.load(form).evaluate(x).tobytes() == exact
    stochastic = assay.load("HloModule m\nENTRY e { x = f32[2] parameter(0)\n u = u32[2] parameter(1)\n"
                            " ROOT y = s16[2] stochastic-convert(x, u) }\n")
    with pytest.raises(assay.NotSupported, match="StableHLO has no such operation"):
        stochastic.to_mlir()


def test_types_that_numpy_lacks():
    module = assay.load("HloModule m\nENTRY e { x = bf16[2] parameter(0)\n ROOT y = bf16[2] exponential(x) }\n")
    y = module.evaluate(np.array([0, 1], ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16
    assert [hex(int(v)) for v in y.view(np.uint16)] == ["0x3f80", "0x402e"]  # e = 2.71828...: bf16 2.71875
    four = assay.load("HloModule m\nENTRY e { x = s4[3] parameter(0)\n ROOT y = s4[3] negate(x) }\n")
    assert four.evaluate(np.array([-3, 0, 7], ml_dtypes.int4)).astype(int).tolist() == [3, 0, -7]
    eight = assay.load("HloModule m\nENTRY e { x = f8e4m3fn[2] parameter(0)\n ROOT y = f32[2] convert(x) }\n")
    assert eight.evaluate(np.array([1.5, -448], ml_dtypes.float8_e4m3fn)).tolist() == [1.5, -448]


def test_arguments_that_are_not_contiguous_or_aligned():
    module = assay.load(ADD)
    spread = np.arange(6, dtype=np.float32)[::2]
    buffer = bytearray(13)
    odd = np.frombuffer(buffer, np.float32, 3, offset=1)
    assert module.evaluate(spread, odd).tolist() == [0, 2, 4]
    square = assay.load("HloModule m\nENTRY e { x = f32[2,3] parameter(0)\n ROOT y = f32[2,3] negate(x) }\n")
    assert square.evaluate(np.float32([[1, 2], [3, 4], [5, 6]]).T).tolist() == [[-1, -3, -5], [-2, -4, -6]]


@pytest.mark.parametrize("program, error, text", [
    ("HloModule m\nENTRY e { x = f32[2] negate(y) }", assay.InvalidProgram, "<program>:2:"),
    ('HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT y = f32[2] custom-call(x), custom_call_target="acme" }',
     assay.NotSupported, "acme"),
    ("HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT y = f32[3] negate(x) }", assay.InvalidProgram,
     "f32[3]"),
])
def test_errors_have_the_message_of_the_command(program, error, text):
    with pytest.raises(error) as raised:
        assay.load(program).evaluate(np.zeros(2, np.float32))
    assert text in str(raised.value) and isinstance(raised.value, assay.Error)


def test_wrong_arguments():
    module = assay.load(ADD)
    for arguments in [(), (np.zeros(3),), (np.zeros(3, np.float64),) * 2, (np.zeros(4, np.float32),) * 2]:
        with pytest.raises(assay.EvaluationFailed):
            module.evaluate(*arguments)
    with pytest.raises(ValueError, match="engine"):
        module.evaluate(np.zeros(3, np.float32), np.zeros(3, np.float32), engine="quick")


ENDLESS = """HloModule m
c { x = s32[] parameter(0)
 ROOT p = pred[] constant(true) }
b { x = s32[] parameter(0)
 ROOT y = s32[] negate(x) }
ENTRY e { x = s32[] parameter(0)
 ROOT w = s32[] while(x), condition=c, body=b }
"""


def test_limits_end_a_run():
    with pytest.raises(assay.EvaluationFailed, match="max-steps"):
        assay.load(ENDLESS).evaluate(np.int32(1), max_steps=1000)
    with pytest.raises(assay.EvaluationFailed, match="timeout"):
        assay.load(ENDLESS).evaluate(np.int32(1), timeout=0.05)


@pytest.fixture
def ctrl_c_raises():
    # A shell starts background jobs with SIGINT ignored, and Python then leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run(ctrl_c_raises):
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        assay.load(ENDLESS).evaluate(np.int32(1), timeout=20)


def test_the_gil_is_released():
    ticks = []

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(assay.EvaluationFailed):
        assay.load(ENDLESS).evaluate(np.int32(1), timeout=0.3)
    done.set()
    thread.join()
    assert len(ticks) >= 5


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_real_program(engine):
    folder = PROGRAMS / "softmax"
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "xla_cpu.npz") as wanted:
        y = assay.load(folder / "program.hlo").evaluate(inputs["arg0"], engine=engine, crosscheck="full")
        y = y[0] if isinstance(y, tuple) else y
        assert np.allclose(y, wanted["out0"], rtol=1e-5)


TEST_PROGRAM = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = interpreter.print %x : tensor<2xf32>
  check.expect_eq_const %y, dense<[1.0, 2.0]> : tensor<2xf32>
  return %y : tensor<2xf32>
}
"""


def test_checks_and_prints(capsys):
    module = assay.load(TEST_PROGRAM)
    assert module.evaluate(np.float32([1, 2])).tolist() == [1, 2]
    assert "f32[2]\n[1. 2.]" in capsys.readouterr().out
    with pytest.raises(assay.ComparisonFailed,
                       match=r"<program>:3:3: error: check.expect_eq_const: 1 of 2 .* found 3, want 2"):
        module.evaluate(np.float32([1, 3]))


def test_distances_in_ulps():
    assert assay.ulp_distances(np.float32([1, 2, np.nan]), np.float32([1, 1, 1])).tolist() == [0, 2**23, -1]
    assert assay.compare(np.float32([1, 2]),
                         np.float32([np.nextafter(np.float32(1), np.float32(2)), 2])).max_ulps == 1
    assert assay.compare(np.float32([-0.0]), np.float32([0])).max_ulps == 0
    tiny = np.float64([5e-324])
    report = assay.compare(-tiny, tiny)
    assert report.max_ulps == 2 and report.where == (0,)
    assert assay.compare(np.float32([np.nan]), np.float32([1])).max_ulps == -1
    assert assay.compare(np.float32([np.nan]), np.float32([np.nan])).different == 0
    assert assay.compare(np.uint64([0]), np.uint64([2**64 - 1])).max_ulps == 2**63 - 1
    one = np.array([1], ml_dtypes.bfloat16)
    with pytest.raises(ValueError, match="raw bytes of unknown type"):
        assay.compare(one.view("V2"), one.view("V2"))
    assert assay.compare(one, np.array([1.0078125], ml_dtypes.bfloat16)).max_ulps == 1


pytest_plugins = ["pytester"]


def test_golden_fixture(pytester):
    pytester.makepyfile("""
        import numpy as np, ml_dtypes
        def test_it(golden):
            golden.check("x", {"a": np.float32([1, 2]), "b": (np.array([1], ml_dtypes.bfloat16),)})
    """)
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
    pytester.runpytest_inprocess("--assay-update").assert_outcomes(passed=1)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    test = next(pytester.path.glob("test_*.py"))
    test.write_text(test.read_text().replace("[1, 2]", "[1, 3]"))
    pytester.runpytest_inprocess().assert_outcomes(failed=1)


SYEVD = """HloModule m
ENTRY e {
  a = f64[6,6] parameter(0)
  ROOT r = (f64[6,6], f64[6], s32[]) custom-call(a), custom_call_target="lapack_dsyevd_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, uplo = 76 : ui8}
}
"""


def eigenvectors_by_the_library(library, a):
    """Of LAPACK's dsyevd, called as Fortran calls it."""
    vectors, values = np.asfortranarray(a), np.zeros(len(a))
    n, info = ctypes.c_int(len(a)), ctypes.c_int(-1)

    def call(work, num_work, ints, num_ints):
        library.dsyevd_(b"V", b"L", ctypes.byref(n), vectors.ctypes.data_as(ctypes.c_void_p), ctypes.byref(n),
                        values.ctypes.data_as(ctypes.c_void_p), work.ctypes.data_as(ctypes.c_void_p),
                        ctypes.byref(ctypes.c_int(num_work)), ints.ctypes.data_as(ctypes.c_void_p),
                        ctypes.byref(ctypes.c_int(num_ints)), ctypes.byref(info), ctypes.c_size_t(1),
                        ctypes.c_size_t(1))
        assert info.value == 0

    work, ints = np.zeros(1), np.zeros(1, np.int32)
    call(work, -1, ints, -1)
    work, ints = np.zeros(int(work[0])), np.zeros(int(ints[0]), np.int32)
    call(work, len(work), ints, len(ints))
    return np.ascontiguousarray(vectors), values


def test_decompositions_by_the_machines_lapack():
    try:
        library = ctypes.CDLL("liblapack.so.3")
    except OSError:
        with pytest.raises(assay.NotSupported, match="liblapack.so.3"):
            assay.load(SYEVD, lapack=True).evaluate(np.eye(6))
        pytest.skip("this machine has no liblapack.so.3")
    a = np.random.default_rng(1).normal(size=(6, 6))
    a += a.T
    wanted = eigenvectors_by_the_library(library, a)
    found = assay.load(SYEVD, lapack=True).evaluate(a)
    for got, want in zip(found, wanted):
        assert np.asarray(got).tobytes() == want.tobytes()
    # Without it the sign of each vector is fixed: its first element of some size is positive.
    vectors, values, info = assay.load(SYEVD).evaluate(a)
    assert info == 0
    for column in vectors.T:
        assert column[np.argmax(column**2 >= 0.37 / 6)] > 0
    np.testing.assert_allclose(values, wanted[1], rtol=1e-13)
    np.testing.assert_allclose(abs(vectors), abs(wanted[0]), atol=1e-13)
    assert vectors.tobytes() != wanted[0].tobytes()
