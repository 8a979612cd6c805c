"""The rule by which elements are judged."""

import numpy as np
import pytest

from assay_conformance.element_types import FORMATS, ML_DTYPES, NATIVE, values
from assay_conformance.judge import compare, half_ulp


@pytest.mark.parametrize('element', [e for e in ML_DTYPES if e != 'bf16'])
def test_narrow_types_mean_what_ml_dtypes_says(element):
    ml_dtypes = pytest.importorskip('ml_dtypes')
    if not hasattr(ml_dtypes, ML_DTYPES[element]):
        pytest.skip(f'ml_dtypes has no {element}')
    width = 1 << (int(element[1]) if element[0] == 'f' else int(element[1:]))
    patterns = np.arange(min(1 << (8 if width == 256 else width.bit_length() - 1), 256)).astype(np.uint8)
    want = patterns.view(getattr(ml_dtypes, ML_DTYPES[element])).astype(float)
    got = np.asarray(values(patterns.view('V1'), element), float)
    np.testing.assert_array_equal(got, want)
    if element in FORMATS:
        np.testing.assert_array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(want)[~np.isnan(want)])


def test_every_bf16_means_the_upper_half_of_an_f32():
    patterns = np.arange(1 << 16, dtype=np.uint16)
    want = (patterns.astype(np.uint32) << 16).view(np.float32).astype(float)
    np.testing.assert_array_equal(values(patterns.view('V2'), 'bf16'), want)


def test_half_ulp_is_half_the_distance_to_the_next_number():
    numbers = np.array([1.0, 1.5, 2.0, -3.0, 2.0**-126, 2.0**-149, 0.0], np.float32)
    want = [2.0**-24, 2.0**-24, 2.0**-23, 2.0**-23, 2.0**-150, 2.0**-150, 2.0**-150]
    np.testing.assert_array_equal(half_ulp(numbers.astype(float), FORMATS['f32']), want)


def judged(exact, actual, element='f32', **more):
    arrays = {'out0': np.array(exact), **{name.replace('_', '/'): np.array(a) for name, a in more.items()}}
    shape = f"{element}[{','.join(map(str, arrays['out0'].shape))}]"
    return compare(shape, arrays, 'out0', np.array(actual), 'p')


def test_without_a_radius_only_the_exact_value_is_right():
    one = np.float32(1)
    above = np.nextafter(one, np.float32(2))
    assert judged([one, above], [one, above]).ok
    verdict = judged([one, one], [one, above])
    assert (verdict.wrong, verdict.judged, verdict.details[0]['index']) == (1, 2, [1])


def test_the_radius_and_half_an_ulp_are_allowed():
    one = np.float32(1)
    two_up = np.float32(1 + 2 * 2.0**-23)
    assert judged([one], [two_up], radius_p_out0=[1.5 * 2.0**-23]).ok
    assert not judged([one], [two_up], radius_p_out0=[1.4 * 2.0**-23]).ok


def test_nans_and_infinities_are_right_for_themselves_alone():
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    assert judged([nan, inf, -inf], [nan, inf, -inf]).ok
    assert judged([nan, inf, -inf, nan], [inf, -inf, nan, np.float32(1)], radius_p_out0=[9.0] * 4).wrong == 4


def test_what_is_open_or_unbounded_is_not_judged():
    verdict = judged(np.float32([1, 2, 3]), np.float32([9, 9, 3]), open_out0=[True, False, False],
                     radius_p_out0=[0.0, np.inf, 0.0])
    assert verdict.ok and (verdict.judged, verdict.open, verdict.unbounded) == (1, 1, 1)


def test_ends_are_sharper_than_the_radius():
    exact, below = np.float32([0.0]), np.float32([-0.5])
    ends = {'radius_p_out0': [1.0], 'low_p_out0': [0.0], 'high_p_out0': [1.0]}
    assert judged(exact, np.float32([0.5]), **ends).ok
    assert not judged(exact, below, **ends).ok


def test_the_sign_of_a_zero_is_counted_but_not_wrong_except_where_bits_are_wanted():
    verdict = judged(np.float32([0.0]), np.float32([-0.0]))
    assert verdict.ok and verdict.zero_signs == 1
    arrays = {'out0': np.float32([0.0, np.nan])}
    assert compare('f32[2]', arrays, 'out0', np.float32([-0.0, np.nan]), 'p', exact_only=True).wrong == 1


def test_integers_are_compared_as_whole_numbers():
    top = np.iinfo(np.int64).max
    assert judged([top], [top], 's64').ok
    assert not judged([top], [top - 1], 's64').ok
    assert judged(np.uint64([2**64 - 1]), np.uint64([2**64 - 2]), 'u64', radius_p_out0=[1.0]).ok
    assert not judged([-2**63], [top], 's64', radius_p_out0=[1.0]).ok


def test_complex_numbers_are_judged_by_their_distance():
    exact, near = np.complex64([3 + 4j]), np.complex64([3 + 4.1j])
    assert judged(exact, near, 'c64', radius_p_out0=[0.11]).ok
    assert not judged(exact, near, 'c64', radius_p_out0=[0.09]).ok
    assert not judged(np.complex64([complex(np.inf, 0)]), np.complex64([complex(np.inf, np.nan)]), 'c64').ok


@pytest.mark.parametrize('actual, why', [(None, 'no such output'),
                                         (np.zeros((2, 1), np.float32), 'an array of'),
                                         (np.zeros(2), 'of 8 bytes')])
def test_other_outputs_are_errors(actual, why):
    verdict = compare('f32[2]', {'out0': np.zeros(2, np.float32)}, 'out0', actual, 'p')
    assert not verdict.ok and why in verdict.error


def test_scalars_and_empty_arrays():
    assert judged(np.float32(2), np.float32(2)).judged == 1
    assert judged(np.float32(2), np.float32(3)).wrong == 1
    assert judged(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).ok


def test_native_types_have_the_widths_of_their_names():
    for element, dtype in NATIVE.items():
        if element not in ('pred',):
            assert dtype.itemsize * 8 == int(element[1:])
