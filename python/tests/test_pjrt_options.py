"""XLA's compile options on the plugin: taken and refused by their names and types as XLA:CPU does."""

import numpy as np
import pytest

from on_both import ASSAY, CPU, jax

OPTIONS = {
    "bool": "xla_embed_ir_in_executable", "int32": "xla_dump_max_hlo_modules",
    "int64": "xla_gpu_all_gather_combine_threshold_bytes",
    "float": "xla_gpu_auto_spmd_partitioning_memory_budget_ratio",
    "string": "xla_dump_to", "strings": "xla_disable_hlo_passes", "enum": "xla_step_marker_location",
    "enums": "xla_gpu_disable_async_collectives", "message": "xla_gpu_experimental_thunk_buffer_debug_filter",
    "messages": "xla_backend_extra_options", "none": "xla_no_such_option", "not xla's": "invalid_key",
}
# xla_dump_to makes folders of what is not empty.
VALUES = ["invalid", "", "True", "true", "1", " 7 ", "-5", "0x10", "2147483648", "9223372036854775808", "1.5",
          "nan",
          "STEP_MARK_NONE", "step_mark_none", "ALLREDUCE,ALLGATHER", "ALLREDUCE,", "ALLREDUCE, ALLGATHER",
          True, False, 1, -1, 2**31, 2**40, 1.5, 2.0, 1e300]


@pytest.fixture(scope="module")
def lowered():
    return [jax.jit(lambda x: x + 1).trace(
        jax.ShapeDtypeStruct((), np.float32, sharding=jax.sharding.SingleDeviceSharding(
        devices[0]))).lower() for devices in (ASSAY, CPU)]


def outcome(program, name, value):
    jax.clear_caches()  # which take True for 1
    try:
        program.compile(compiler_options={name: value})
        return "taken"
    except jax.errors.JaxRuntimeError as error:
        return str(error).replace("compile options: ", "")


@pytest.mark.parametrize("kind", OPTIONS)
def test_options_of_xla_are_taken_and_refused_as_xla_does(kind, lowered):
    for value in VALUES:
        if kind == "string" and isinstance(value, str) and value:
            continue
        found, wanted = (outcome(program, OPTIONS[kind], value) for program in lowered)
        assert found == wanted, (OPTIONS[kind], value)


def test_an_option_that_is_wrong_is_refused_by_its_name(lowered):
    with pytest.raises(jax.errors.JaxRuntimeError,
                       match="xla_embed_ir_in_executable, 'invalid' is not a valid bool value"):
        lowered[0].compile(compiler_options={"xla_embed_ir_in_executable": "invalid"})
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'invalid_key'"):
        jax.jit(lambda x: x + 1,
                compiler_options={"invalid_key": "invalid_value"})(jax.device_put(1.0, ASSAY[0]))
