"""Training runs held against sampled conforming backends."""

import json
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import assay
from assay._training import _judged

jax = pytest.importorskip("jax")
jnp = jax.numpy

CLASSES, FEATURES, HIDDEN, BATCH = 5, 12, 24, 32


def batch(number):
    """Points around the centres of five classes."""
    centres = np.random.default_rng(1).standard_normal((CLASSES, FEATURES)).astype(np.float32)
    rng = np.random.default_rng([2, number])
    labels = rng.integers(0, CLASSES, BATCH).astype(np.int32)
    return centres[labels] + rng.standard_normal((BATCH, FEATURES)).astype(np.float32), labels


def first_state():
    rng = np.random.default_rng(3)
    weights = {"w": 0.3 * rng.standard_normal((FEATURES, HIDDEN)), "b": np.zeros(HIDDEN),
               "v": 0.3 * rng.standard_normal((HIDDEN, CLASSES)), "c": np.zeros(CLASSES)}
    weights = {key: value.astype(np.float32) for key, value in weights.items()}
    return weights, {key: np.zeros_like(value) for key, value in weights.items()}


def loss_of(weights, inputs, labels):
    hidden = jnp.tanh(inputs @ weights["w"] + weights["b"])
    scores = jax.nn.log_softmax(hidden @ weights["v"] + weights["c"])
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


def training_step(fault=lambda gradients: gradients):
    """A step of gradient descent with momentum."""

    def step(state, inputs_and_labels):
        weights, velocities = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, *inputs_and_labels)
        velocities = jax.tree.map(lambda v, g: 0.9 * v + g, velocities, fault(gradients))
        return (jax.tree.map(lambda w, v: w - 0.05 * v, weights, velocities), velocities), loss

    return step


STEP = training_step()


def test_two_hundred_steps_of_xla_are_plausible():
    report = assay.check_training(STEP, first_state(), batch, steps=200, profile="xla-cpu")
    assert report.ok and report and report.first_implausible is None, str(report)
    assert len(report.steps) == 200 and report.samples == 16 and report.count("plausible") == 200
    assert report.steps[-1].actual < report.steps[0].actual / 2  # it learns
    assert any(step.actual != step.exact for step in report.steps)  # and XLA rounds otherwise
    assert all(step.low <= step.high and step.spread > 0 for step in report.steps[1:])
    assert "200 plausible, 0 implausible" in str(report)


def one_percent(gradients):
    return {**gradients, "v": gradients["v"] * jnp.float32(1.01)}


def test_a_gradient_that_is_one_percent_off_is_found_within_few_steps():
    wrong = jax.jit(training_step(one_percent))
    report = assay.check_training(STEP, first_state(), batch, steps=20, profile="xla-cpu", backend=wrong)
    assert not report.ok and not report
    # The first loss does not depend on a gradient.
    assert 1 <= report.first_implausible <= 3, str(report)
    assert report.steps[0].verdict == "plausible" and report.steps[10].verdict == "implausible"
    assert f"implausible from step {report.first_implausible} on" in str(report)


def test_the_report_as_json_and_as_a_picture(tmp_path):
    wrong = jax.jit(training_step(one_percent))
    report = assay.check_training(STEP, first_state(), [batch(k) for k in range(8)], profile="xla-cpu",
                                  samples=4, backend=wrong)
    value = json.loads(report.to_json())
    assert (value["profile"], value["samples"], value["ok"]) == ("xla-cpu", 4, False)
    assert len(value["steps"]) == 8
    assert value["first_implausible"] == report.first_implausible
    assert value["steps"][3]["verdict"] == report.steps[3].verdict
    report.write_svg(tmp_path / "run.svg")
    root = ElementTree.parse(tmp_path / "run.svg").getroot()
    words = " ".join(root.itertext())
    assert f"implausible: step {report.first_implausible}" in words and "spread of 4 samples" in words


def test_samples_carry_their_own_states_on():
    """Of x -> 3.9 x (1 - x) samples part until nothing is known of x."""

    def step(x, _):
        x = jnp.float32(3.9) * x * (1 - x)
        return x, x

    report = assay.check_training(step, np.float32(0.3), lambda k: (), steps=100, profile="xla-cpu",
                                  samples=8)
    assert report.ok
    assert report.steps[3].verdict == "plausible" and report.steps[3].spread < 1e-5
    assert report.steps[-1].verdict == "undecided" and report.steps[-1].spread > 0.1


def test_losses_that_are_no_numbers():
    def judged(actual, exact, losses):
        return _judged(0, actual, exact, losses, np.dtype("f4")).verdict

    assert judged(math.nan, 1.0, [1.0, 1.0]) == "implausible"
    assert judged(math.nan, 1.0, [1.0, math.nan]) == "plausible"
    assert judged(math.inf, math.inf, [math.inf, math.inf]) == "plausible"
    assert judged(1.0, math.nan, [math.nan, math.nan]) == "implausible"
    assert judged(1.0, 1.0, [1.0, 1.0]) == "plausible"
    assert judged(1.0 + 2**-22, 1.0, [1.0, 1.0]) == "plausible"  # two ulps
    assert judged(1.0 + 2**-21, 1.0, [1.0, 1.0]) == "implausible"
    assert judged(1.1, 1.0, [1.0 + 2**-8, 1.0]) == "implausible"
    assert judged(1.05, 1.0, [1.0 + 2**-8, 1.0]) == "plausible"
    assert judged(1.1, 1.0, [1.4, 1.0]) == "undecided"


def test_what_is_no_step_is_refused():
    def check(step, state=np.float32(1), **more):
        assay.check_training(step, state, np.float32, profile="xla-cpu", **{"steps": 2, **more})

    with pytest.raises(ValueError, match="wanted \\(state, loss\\)"):
        check(lambda x, b: x + b)
    with pytest.raises(ValueError, match="the loss is s32"):
        check(lambda x, b: (x, jnp.int32(1)))
    with pytest.raises(ValueError, match="takes f32\\[\\] and carries f32\\[2\\] on"):
        check(lambda x, b: (jnp.stack([x, b]), b))
    with pytest.raises(ValueError, match="steps says of how many"):
        check(STEP, steps=None)
    with pytest.raises(ValueError, match="samples is 0"):
        check(STEP, samples=0)
    with pytest.raises(ValueError, match="no batches"):
        assay.check_training(STEP, first_state(), [], profile="xla-cpu")
    with pytest.raises(assay.Error, match="is neither a profile"):
        assay.check_training(STEP, first_state(), batch, steps=1, profile="nobody")


def test_a_sampled_program_takes_a_seed():
    program = assay.load("""HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  ROOT y = f32[64] tanh(x)
}
""")
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    sampled = program.sampled("xla-cpu")
    first, again, other = (sampled.evaluate(x, assay.sample_key(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    exact = program.evaluate(x)
    # 6 ulps of the profile, and half an ulp each for rounding the exact value, the move and the result.
    assert np.allclose(first, exact, rtol=7.5 * 2**-23, atol=0) and not np.array_equal(first, exact)
