"""What a model means does not change (goldens, bit for bit); what compilers and kernels change is rounding.

    pytest                      # compares with golden/*.npz
    pytest --assay-update       # records them anew, where the model is meant to change
"""

import numpy as np
import pytest

import assay
from model import attention, attention_by_rows

PROFILE = "xla-cpu"


@pytest.fixture
def arguments():
    random = np.random.default_rng(7)
    return [random.normal(size=(16, 8)).astype(np.float32) for _ in "qkv"]


def test_the_model_means_what_it_meant(arguments, golden):
    golden.check("attention", assay.evaluate(attention)(*arguments))


def test_jax_gives_what_a_correct_backend_may_give(arguments):
    report = assay.check(attention, *arguments, profile=PROFILE)
    assert report.ok, report


def test_the_kernel_gives_what_a_correct_backend_may_give(arguments):
    program = assay.lower(attention)(*arguments).to_hlo()
    report = assay.diff(program, arguments, attention_by_rows(*arguments), profile=PROFILE)
    assert report.ok, report


def test_a_kernel_that_forgets_the_scale_is_found(arguments):
    q, k, v = arguments
    program = assay.lower(attention)(q, k, v).to_hlo()
    report = assay.diff(program, arguments, attention_by_rows(q * np.float32(8**0.5), k, v), profile=PROFILE)
    assert not report.ok and report.outputs[0].outside > 100
