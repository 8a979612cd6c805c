"""Programs of several devices from Python."""

import pathlib

import numpy as np
import pytest

import assay

GATHER = """HloModule gather

ENTRY main {
  x = s32[2] parameter(0)
  r = u32[] replica-id()
  g = s32[4] all-gather(x), dimensions={0}, replica_groups={{1,0}}
  ROOT t = (s32[4], u32[]) tuple(g, r)
}
"""

SUM = """HloModule sum, num_partitions=3

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[] parameter(0)
  ROOT r = f32[] all-reduce(x), to_apply=add, channel_id=1, replica_groups={{0,1,2}}, use_global_device_ids=true
}
"""


def test_each_device_has_arguments_and_results_of_its_own():
    first, second = assay.load(GATHER).evaluate_devices(
        [(np.array([1, 2], np.int32),), (np.array([3, 4], np.int32),)])
    assert first[0].tolist() == second[0].tolist() == [3, 4, 1, 2]
    assert (first[1], second[1]) == (0, 1)


def test_a_stacked_array_is_a_list_of_devices():
    stacked = np.array([1, 2.0**-24, 2.0**-60], np.float32)
    results = assay.load(SUM).evaluate_devices([(x,) for x in stacked])
    assert [r.item() for r in results] == [1 + 2.0**-23] * 3


def test_evaluate_gives_what_all_devices_agree_on():
    assert assay.load(SUM).evaluate(np.float32(2)) == 6
    with pytest.raises(assay.NotSupported, match="devices give different results"):
        assay.load(GATHER).evaluate(np.array([1, 2], np.int32))


def test_the_number_of_devices():
    one = assay.load("HloModule m\nENTRY e {\n  ROOT p = u32[] partition-id()\n}\n")
    assert [r.item() for r in one.evaluate_devices([()], partitions=3)] == [0, 1, 2]
    wanted = "arguments for 2 devices, the program runs on 1 replica of 3 partitions"
    with pytest.raises(ValueError, match=wanted):
        assay.load(SUM).evaluate_devices([(np.float32(1),)] * 2)
    with pytest.raises(assay.InvalidProgram, match="GRP-C4"):
        assay.load(GATHER).evaluate_devices([(np.array([1, 2], np.int32),)], replicas=3)


def test_manual_regions_take_whole_values():
    folder = pathlib.Path(__file__).parents[2] / "golden/programs_spmd/expert_layer"
    with np.load(folder / "inputs.npz") as inputs:
        x, w = inputs["arg0"], inputs["arg1"]
    result, = assay.load(folder / "whole.hlo").evaluate_devices([(x, w)])
    tokens = x.reshape(8, 8, 8)  # device, expert, features
    expected = np.maximum(np.einsum("dec,eco->deo", tokens, w), 0) + tokens
    np.testing.assert_allclose(result, expected.reshape(x.shape), rtol=1e-5, atol=1e-6)
