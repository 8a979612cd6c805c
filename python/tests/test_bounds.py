"""Bounds from Python: what a correct backend may return."""

import io
import zipfile

import ml_dtypes
import numpy as np
import pytest

import assay
from assay._types import DTYPES

SUM = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply=add
  ROOT t = (f32[], f32[4]) tuple(s, x)
}
"""
X = np.float32([1, 2, 3, 4])


# Of decompositions that are not of Hermitian matrices nothing has a bound.
EIGENVALUE = """HloModule m
ENTRY e {
  x = f32[1,1] parameter(0)
  c = (f32[1], f32[1], c64[1,1], c64[1,1], s32[]) custom-call(x), custom_call_target="lapack_sgeev_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
  w = f32[1] get-tuple-element(c), index=0
"""


def test_rounding_conforms_and_a_violation_does_not():
    good = assay.diff(SUM, (X,), (np.float32(10.000002), X), profile="strict")
    assert good.ok and good and good.profile == "strict"
    assert [(o.path, o.elements, o.inside, o.outside, o.undecided)
            for o in good.outputs] == [("out0", 1, 1, 0, 0), ("out1", 4, 4, 0, 0)]
    wrong = X.copy()
    wrong[3] = np.nextafter(wrong[3], np.float32(9))
    bad = assay.diff(SUM, (X,), (np.float32(10.001), wrong), profile="strict")
    assert not bad.ok and not bad
    assert [o.outside for o in bad.outputs] == [1, 1]
    worst = bad.outputs[1].worst[0]
    assert (worst.index, worst.exact, worst.ulps, worst.radius,
            worst.share) == ((3,), "4", 1, 0, float("inf"))
    assert "out1: 4 elements, 3 inside, 1 outside, 0 undecided\n  outside [3]: exact 4, actual" in str(bad)


def test_forms_of_inputs_and_outputs(tmp_path):
    module = assay.load(SUM)
    np.savez(tmp_path / "in.npz", arg0=X)
    np.savez(tmp_path / "out.npz", out0=np.float32(10), out1=X)
    for inputs in ((X,), [X], {"arg0": X}, tmp_path / "in.npz", str(tmp_path / "in.npz")):
        for actual in ((np.float32(10), X), {"out0": np.float32(10), "out1": X}, tmp_path / "out.npz"):
            assert assay.diff(module, inputs, actual).ok
    one = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT n = f32[2] negate(x)\n}\n"
    assert assay.diff(one, [X[:2]], -X[:2]).ok
    assert not assay.diff(one, [X[:2]], X[:2]).ok


def test_a_page_is_written(tmp_path):
    page = tmp_path / "report.html"
    report = assay.diff(SUM, (X,), (np.float32(10.001), X), html=page)
    assert not report.ok
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n") and "a bug, proven" in text
    with pytest.raises(assay.Error, match="no such folder"):
        assay.diff(SUM, (X,), (np.float32(10), X), html=tmp_path / "no such folder" / "report.html")


NARROW = "HloModule m\nENTRY e {\n  x = TYPE[2] parameter(0)\n  ROOT y = TYPE[2] add(x, x)\n}\n"
# Not f8e5m2: np.load refuses the descriptor that np.save gives it, <f1.
ML_DTYPES = {name: dtype for name, dtype in DTYPES.items() if dtype.kind == "V"}


@pytest.mark.parametrize("name", [n for n in ML_DTYPES if n.startswith(("f", "b"))])
def test_files_of_narrow_floats_come_back(tmp_path, name):
    x = np.array([1, 2], ML_DTYPES[name])
    np.savez(tmp_path / "in.npz", arg0=x)
    np.savez(tmp_path / "out.npz", out0=x + x)
    program = NARROW.replace("TYPE", name)
    assert assay.diff(program, tmp_path / "in.npz", tmp_path / "out.npz").ok
    assert not assay.diff(program, tmp_path / "in.npz", tmp_path / "in.npz").ok


def commented(path, comment, **arrays):
    """An .npz file whose members say their type, as Assay writes them."""
    with zipfile.ZipFile(path, "w") as archive:
        for key, array in arrays.items():
            file = io.BytesIO()
            np.save(file, array)
            info = zipfile.ZipInfo(key + ".npy")
            info.comment = comment.encode()
            archive.writestr(info, file.getvalue())
    with np.load(path) as read:  # NumPy passes over comments
        assert read.files == list(arrays)
    return path


def test_arrays_of_another_type_than_the_programs_are_refused(tmp_path):
    x = np.array([1, 2], ml_dtypes.float8_e4m3fn)
    program = NARROW.replace("TYPE", "f8e4m3fn")
    said = "found f8e5m2\\[2\\], wanted f8e4m3fn\\[2\\]"
    raw = (x + x).view("V1")
    assert assay.diff(program, (x,), raw).ok
    assert assay.diff(program, (x,), commented(tmp_path / "good.npz", "f8e4m3fn", out0=raw)).ok
    assert assay.diff(program, (x,), commented(tmp_path / "bits.npz", "f8e4m3fn", out0=raw.view("u1"))).ok
    for wrong in (commented(tmp_path / "bad.npz", "f8e5m2", out0=raw), raw.view(ml_dtypes.float8_e5m2)):
        with pytest.raises(assay.Error, match=said):
            assay.diff(program, (x,), wrong)
    with pytest.raises(assay.Error, match="wanted f8e4m3fn"):
        assay.load(program).evaluate(x.view(ml_dtypes.float8_e5m2))


def test_a_missing_output_does_not_conform():
    report = assay.diff(SUM, (X,), {"out0": np.float32(10)})
    assert not report.ok and report.outputs[1].error == "the backend gave no such output"


def test_what_is_not_known_is_named():
    program = "HloModule m\nENTRY e {\n  x = f32[1,1] parameter(0)\n  ROOT c = f32[1,1] custom-call(x), custom_call_target=\"Sharding\"\n}\n"
    report = assay.diff(program, (np.float32([[4]]),), np.float32([[4]]))
    assert report.ok
    for name, op, why in report.undecided_from:
        assert name and op and why


def test_whatever_is_not_proven_has_a_reason(tmp_path):
    program = EIGENVALUE + "  ROOT t = (f32[1,1], f32[1]) tuple(x, w)\n}\n"
    path, inputs = tmp_path / "my program.hlo", tmp_path / "in.npz"
    path.write_text(program)
    np.savez(inputs, arg0=np.float32([[4]]))
    for actual, counts in ((4, (1, 0, 0)), (4.5, (0, 1, 0))):
        report = assay.diff(path, inputs, (np.float32([[4]]), np.float32([actual])))
        reason, = report.reasons
        assert isinstance(reason, assay.Reason)
        assert (reason.plausible, reason.implausible, reason.undecided) == counts
        assert (reason.output, reason.instruction, reason.op) == ("out1", "c", "custom-call")
        assert (reason.inside, reason.iteration) == ("", None)
        assert reason.why and f"assay diff '{path}' --inputs {inputs} --backend" in reason.next
        verdict = "plausible" if counts[0] else "implausible"
        assert f"out1: nothing is proven of 1 {verdict} element from '%c = custom-call' on" in str(report)
    unsampled = assay.diff(path, inputs, (np.float32([[4]]), np.float32([4])), samples=0)
    assert unsampled.reasons[0].undecided == 1 and "estimate them: --samples 16" in unsampled.reasons[0].next


def test_profiles_of_files_and_errors(tmp_path):
    (tmp_path / "p.profile").write_text("inherit strict\naccumulate f32 bf16\n")
    assert assay.diff(SUM, (X,), (np.float32(10.1), X), profile=str(tmp_path / "p.profile")).ok
    with pytest.raises(assay.Error, match="is neither a profile"):
        assay.diff(SUM, (X,), (np.float32(10), X), profile="nobody")
    with pytest.raises(assay.Error):
        assay.diff(SUM, (X[:3],), (np.float32(10), X))
    with pytest.raises(assay.Error):
        assay.diff(SUM, (X,), (np.float32(10), X[:3]))
    with pytest.raises(assay.Error, match="max-steps"):
        assay.diff(SUM, (X,), (np.float32(10), X), max_steps=1)


def test_check_of_a_jax_function():
    jax = pytest.importorskip("jax")
    x = np.linspace(-3, 3, 40, dtype=np.float32).reshape(4, 10)
    f = lambda x: {"soft": jax.nn.softmax(x), "sum": (x * x).sum()}
    report = assay.check(f, x, profile="xla-cpu")
    assert isinstance(report, assay.BoundsReport) and report.ok, str(report)
    assert [o.path for o in report.outputs] == ["['soft']", "['sum']"]
    assert all(o.inside == o.elements for o in report.outputs)


def test_check_finds_a_backend_that_is_wrong(monkeypatch):
    jax = pytest.importorskip("jax")
    x = np.linspace(1, 2, 8, dtype=np.float32)
    right = jax.jit

    class Wrong:
        """Off by a thousandth."""

        def __init__(self, function, **options):
            self.jitted = right(function, **options)

        def __call__(self, *args, **kwargs):
            return self.jitted(*args, **kwargs) * np.float32(1.001)

        def lower(self, *args, **kwargs):
            return self.jitted.lower(*args, **kwargs)

    monkeypatch.setattr(jax, "jit", Wrong)
    report = assay.check(lambda x: jax.numpy.sqrt(x), x, profile="xla-cpu")
    assert not report.ok and report.outputs[0].outside == 8


def test_check_takes_unused_arguments_and_options():
    pytest.importorskip("jax")
    report = assay.check(lambda x, unused: x + 1, np.float32([1, 2]), 3, profile="strict",
                         options={"engine": "reference"})
    assert report.ok and report.profile == "strict"


def test_what_has_no_bound_is_estimated():
    program = EIGENVALUE + "  ROOT r = f32[1] copy(w)\n}\n"
    given, four, wrong = (np.float32([[4]]),), np.float32([4]), np.float32([4.5])
    good = assay.diff(program, given, four)
    assert good.ok and good.samples == 16 and (good.outputs[0].plausible, good.outputs[0].undecided) == (1, 0)
    bad = assay.diff(program, given, wrong, samples=4)
    assert not bad.ok and bad.ok_as_proven and bad.samples == 4
    assert bad.outputs[0].farthest[0].index == (0,) and bad.outputs[0].farthest[0].share > 1
    assert "1 implausible, 0 undecided\n  implausible [0]: exact 4, actual 4.5" in str(bad)
    assert bad.outputs[0].farthest[0].distance == 0.5
    assert f"0.5 off where {bad.outputs[0].farthest[0].allowed:.3g} is plausible" in str(bad)
    assert assay.diff(program, given, wrong, samples=0).outputs[0].undecided == 1
