"""Assay as a platform of JAX: found by JAX itself through the entry point in group `jax_plugins`
(docs/jax.md).

JAX calls `initialize` when it looks for its backends. Besides the plugin's library, what makes a platform
whole is registered here: lowering rules, callbacks to Python, handlers of jax.ffi. JAX has no public way for
some of it; where a name that it is done by is gone, JAX says by itself what the platform then lacks.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import inspect
import itertools
import json
import logging
import os
import pathlib
import traceback

import numpy as np

PLATFORM = "assay"
# The module of the package is the plugin, too.
LIBRARY = pathlib.Path(__file__).with_name("_assay.abi3.so")
# Below the CPU's, which is 0: who installs Assay does not change where programs run.
PRIORITY = -1
CALLBACK_TARGET = "assay_host_callback"
# tools/test_jax_versions runs the plugin's tests by the oldest, by the newest, and between them.
OLDEST_JAX, NEWEST_JAX = (0, 8), (0, 12)
API_VERSION = (0, 76)  # of PJRT's C API, pjrt/plugin/pjrt_api.h
_log = logging.getLogger(__name__)


def initialize(library: pathlib.Path | str = LIBRARY, options: dict | None = None) -> None:
    """Registers the platform. `options` are the client's (docs/jax.md); they win over the environment."""
    from jax._src import xla_bridge

    named = _named_in_environment()
    library = pathlib.Path(named or library)
    if not library.exists():
        _log.info("assay: no plugin at %s", library)
        return
    _check_jax()
    plugin = _opened(library)
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(PLATFORM)
    if not named:
        xla_bridge.register_plugin(PLATFORM, priority=PRIORITY, library_path=str(library), options=options)
    for extend in (_add_cpu_for_callbacks, _share_lowerings_of_cpu, _lower_linear_algebra,
                   _lower_custom_partitioning, _allow_donation, _use_compilation_cache,
                   functools.partial(_serve_callbacks, plugin), functools.partial(_serve_ffi, plugin),
                   functools.partial(_end_runs_by_signals, plugin)):
        try:
            extend()
        except (AttributeError, ImportError) as error:
            _log.warning("assay: this version of JAX differs: %s", error)


def _check_jax() -> None:
    """Raises for a JAX that is older than those that the plugin was tried with; warns of a newer one."""
    import jax

    version = jax.__version_info__[:2]
    if version < OLDEST_JAX:
        raise ImportError(f"assay: JAX {jax.__version__} is older than {_dotted(OLDEST_JAX)}, "
                          "the oldest that the plugin works with")
    if version > NEWEST_JAX:
        _log.warning("assay: JAX %s is newer than %s, the newest that the plugin was tested with",
                     jax.__version__, _dotted(NEWEST_JAX))


def _dotted(version: tuple) -> str:
    return ".".join(map(str, version))


class _Api(ctypes.Structure):
    """The beginning of PJRT_Api."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p),
                ("version_size", ctypes.c_size_t), ("version_extension", ctypes.c_void_p),
                ("major", ctypes.c_int), ("minor", ctypes.c_int)]


def _opened(library: pathlib.Path) -> ctypes.CDLL:
    """The plugin's library, checked before JAX calls anything of it. Raises ImportError."""
    try:
        plugin = ctypes.CDLL(str(library))
        get_api = plugin.GetPjrtApi
    except (OSError, AttributeError) as error:
        raise ImportError(f"assay: {library} is not a PJRT plugin: {error}") from None
    get_api.restype = ctypes.POINTER(_Api)
    api = get_api()
    if not api or api.contents.struct_size < ctypes.sizeof(_Api):
        raise ImportError(f"assay: {library} has no table of PJRT's C API")
    version = (api.contents.major, api.contents.minor)
    if version != API_VERSION:
        raise ImportError(f"assay: {library} has version {_dotted(version)} of PJRT's C API, "
                          f"want {_dotted(API_VERSION)}, that of this package")
    if not hasattr(plugin, "AssaySetHostCallback"):
        raise ImportError(f"assay: {library} is another plugin than Assay's")
    return plugin


def _named_in_environment() -> str | None:
    """The library that PJRT_NAMES_AND_LIBRARY_PATHS=assay:PATH names: JAX then registers it by itself."""
    for entry in os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(","):
        name, _, path = entry.partition(":")
        if name == PLATFORM and path:
            if path.endswith(".json"):
                path = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["library_path"]
            return path
    return None


def _add_cpu_for_callbacks() -> None:
    """jax.pure_callback hands its function arrays on a CPU device,
    so that JAX_PLATFORMS=assay alone would be too little."""
    import jax

    if jax.config.jax_platforms == PLATFORM:
        jax.config.update("jax_platforms", f"{PLATFORM},cpu")


def _share_lowerings_of_cpu() -> None:
    """What JAX lowers in its own way for CPUs, Assay takes as well: LAPACK's calls (docs/linear_algebra.md),
    loops that are rolled, callbacks; also what is registered later. Rules for this platform come first."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    rules[PLATFORM] = collections.ChainMap(rules[PLATFORM], rules["cpu"])


def _lower_linear_algebra() -> None:
    """Algorithms that JAX has for other platforms. QDWH and the polar decomposition are written in JAX
    itself; Jacobi's is another way to the same decomposition, which LAPACK's calls give exactly rounded."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg
    from jax._src.tpu.linalg import eigh as qdwh_eigh
    from jax._src.tpu.linalg import svd as polar_svd

    rules = mlir._platform_specific_lowerings["cpu"]
    eigh_rule, svd_rule = rules[linalg.eigh_p].rule, rules[linalg.svd_p].rule
    # JAX 0.8 has neither.
    has_choice = hasattr(linalg, "EighImplementation")
    polar = getattr(linalg.SvdAlgorithm, "POLAR", None)

    def lower_eigh(ctx, operand, *, algorithm, **options):
        if algorithm == linalg.EighImplementation.QDWH:
            return mlir.lower_fun(qdwh_eigh._eigh_qdwh_impl, multiple_results=True)(ctx, operand, **options)
        return eigh_rule(ctx, operand, algorithm=None, **options)

    def lower_svd(ctx, operand, *, algorithm=None, **options):
        if algorithm is not None and algorithm == polar and 0 not in ctx.avals_in[0].shape[-2:]:
            return mlir.lower_fun(polar_svd._svd_tpu, multiple_results=True)(ctx, operand, **options)
        if algorithm in (polar, linalg.SvdAlgorithm.JACOBI):
            algorithm = None
        return svd_rule(ctx, operand, algorithm=algorithm, **options)

    if has_choice:
        mlir.register_lowering(linalg.eigh_p, lower_eigh, platform=PLATFORM)
    mlir.register_lowering(linalg.svd_p, lower_svd, platform=PLATFORM)


def _lower_custom_partitioning() -> None:
    """jax.experimental.custom_partitioning: the function itself, of whole values.
    How XLA is to cut it up is left aside."""
    from jax._src import core, custom_partitioning
    from jax._src.interpreters import mlir

    def lower(ctx, *values, call, **options):
        del options
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    mlir.register_lowering(custom_partitioning.custom_partitioning_p, lower, platform=PLATFORM)


def _use_compilation_cache() -> None:
    """JAX's persistent compilation cache asks for the platform by name. Programs with callbacks are not
    cached: they know their functions by numbers of this process."""
    from jax._src import compilation_cache, compiler

    is_used, get_key = compilation_cache.is_cache_used, compiler._get_cache_key

    @functools.wraps(is_used)
    def is_cache_used(backend):
        if backend.platform != PLATFORM:
            return is_used(backend)
        return compilation_cache.is_persistent_cache_enabled()

    @functools.wraps(get_key)
    def get_cache_key(options, backend, computation, *args, **kwargs):
        if backend.platform == PLATFORM and is_cache_used(backend) and _calls_back(computation):
            return None
        return get_key(options, backend, computation, *args, **kwargs)

    compilation_cache.is_cache_used = is_cache_used
    compiler._get_cache_key = get_cache_key


def _calls_back(module) -> bool:
    from jax._src.lib.mlir import ir

    found = False

    def look(operation):
        nonlocal found
        target = operation.attributes[
            "call_target_name"] if "call_target_name" in operation.attributes else None
        found = found or (target is not None and ir.StringAttr(target).value == CALLBACK_TARGET)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


def _allow_donation() -> None:
    from jax._src.interpreters import mlir

    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)


# --- Callbacks ---


class _HostArray(ctypes.Structure):
    """AssayHostArray of pjrt/plugin/process_ops.h."""
    _fields_ = [("type", ctypes.c_int32), ("rank", ctypes.c_int64), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_int64)]


_HostCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_size_t, ctypes.POINTER(_HostArray),
                                 ctypes.c_size_t, ctypes.POINTER(_HostArray), ctypes.c_void_p,
                                 ctypes.c_size_t)
# By PJRT's numbers of types.
_TYPES = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32",
          9: "uint64",
          10: "float16", 11: "float32", 12: "float64", 13: "bfloat16", 14: "complex64", 15: "complex128",
          16: "float8_e5m2", 17: "float8_e4m3fn", 18: "float8_e4m3b11fnuz", 19: "float8_e5m2fnuz",
          20: "float8_e4m3fnuz", 21: "int4", 22: "uint4", 24: "int2", 25: "uint2", 26: "float8_e4m3",
          27: "float8_e3m4", 28: "float8_e8m0fnu", 29: "float4_e2m1fn", 30: "int1", 31: "uint1",
          32: "float6_e2m3fn", 33: "float6_e3m2fn"}
# Functions by the numbers that programs know them by; a program may run as long as the process does.
_functions: dict[int, object] = {}
# Other processes' numbers, which a serialized program may have, are not among them.
_numbers = itertools.count(int.from_bytes(os.urandom(6), "little") << 14 | 1)


@functools.cache
def _dtype(number: int) -> np.dtype:
    import ml_dtypes

    name = _TYPES[number]
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def _view(array: _HostArray) -> np.ndarray:
    sizes = tuple(array.sizes[:array.rank])
    dtype = _dtype(array.type)
    if array.bytes == 0:
        return np.empty(sizes, dtype)
    memory = (ctypes.c_ubyte * array.bytes).from_address(array.data)
    return np.frombuffer(memory, np.uint8).view(dtype).reshape(sizes)


def _keep_interruption(raised: KeyboardInterrupt) -> None:
    """Ends the run that made the callback by the callback's exception, not by an error with its text."""
    from assay import _assay

    _assay.keep_signal_exception(raised)


@_HostCallback
def _call(number, num_operands, operands, num_results, results, error, error_size):
    try:
        # Copies: what a function keeps must outlive the run.
        given = [np.array(_view(operands[i])) for i in range(num_operands)]
        if number not in _functions:
            raise RuntimeError("the program's callback is a function of another process")
        for i, value in enumerate(_functions[number](*given)):
            _view(results[i])[...] = value
        return 0
    except BaseException as raised:  # pylint: disable=broad-except
        if isinstance(raised, KeyboardInterrupt):
            _keep_interruption(raised)
        text = traceback.format_exc().encode(errors="replace")[-(error_size - 1):] + b"\0"
        ctypes.memmove(error, text, len(text))
        return 1


def _checked(callback, result_avals):
    """The function with what JAX's own callbacks check of its results."""
    from jax._src import dtypes

    def checked(*args):
        values = tuple(dtypes.canonicalize_value(np.asarray(value)) for value in callback(*args))
        if len(values) != len(result_avals):
            raise RuntimeError(f"Mismatched number of outputs from callback. Expected: {len(result_avals)}, "
                               f"Actual: {len(values)}")
        for i, (value, aval) in enumerate(zip(values, result_avals)):
            if value.shape != aval.shape:
                raise RuntimeError(f"Incorrect output shape for return value #{i}: Expected: {aval.shape}, "
                                   f"Actual: {value.shape}")
            if value.dtype != aval.dtype:
                raise RuntimeError(f"Incorrect output dtype for return value #{i}: Expected: {aval.dtype}, "
                                   f"Actual: {value.dtype}")
        return values

    return checked


def _serve_callbacks(plugin: ctypes.CDLL) -> None:
    import dataclasses

    from jax._src import callback as callbacks
    from jax._src import core, ffi
    from jax._src.interpreters import mlir

    original = callbacks.emit_python_callback

    @functools.wraps(original)
    def emit(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect,
             returns_token=True, partitioned=False, sharding=None):
        if tuple(ctx.module_context.platforms) != (PLATFORM,):
            return original(ctx, callback, token, operands, operand_avals, result_avals,
                            has_side_effect=has_side_effect, returns_token=returns_token,
                            partitioned=partitioned, sharding=sharding)
        if partitioned and result_avals:
            raise ValueError("Partitioned callback not supported with return values.")
        number = next(_numbers)
        _functions[number] = _checked(callback, result_avals)
        if token:
            operands = [token, *operands]
            ctx = dataclasses.replace(ctx, avals_in=[core.abstract_token, *ctx.avals_in],
                                      avals_out=[core.abstract_token, *ctx.avals_out])
        lower = ffi.build_ffi_lowering_function(CALLBACK_TARGET, has_side_effect=has_side_effect)
        # Of a partitioned callback each device's part is handed on by itself.
        call = lower(ctx, *operands, number=np.uint64(number), partitioned=partitioned)
        if sharding is not None and not token:
            takes_context = len(inspect.signature(mlir.set_sharding).parameters) == 3  # not in JAX 0.8
            mlir.set_sharding(*([ctx.module_context] if takes_context else []), call, sharding)
        results = call.results
        if token:
            token, *results = results
        return results, token, None

    callbacks.emit_python_callback = emit
    plugin.AssaySetHostCallback.restype = None
    plugin.AssaySetHostCallback(_call)


# --- Ctrl-C ---


def _end_runs_by_signals(plugin: ctypes.CDLL) -> None:
    """Ctrl-C ends a run, as does each handler of a signal that raises an exception."""
    from assay import _assay

    plugin.AssaySetInterruption.argtypes = [ctypes.c_void_p]
    plugin.AssaySetInterruption.restype = None
    plugin.AssaySetInterruption(_assay.signal_poll_address())


# --- jax.ffi ---


def _pointer(capsule) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))


def _serve_ffi(plugin: ctypes.CDLL) -> None:
    from jax._src.lib import xla_client

    register_handler = plugin.AssayRegisterFfiHandler
    register_handler.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 4, ctypes.c_uint32, ctypes.c_char_p,
                                 ctypes.c_size_t]

    def register(name, fn, platform, api_version, traits=0):
        del platform
        if api_version != 1:
            raise NotImplementedError(f"assay: custom call {name!r} of API version {api_version}, want 1 (typed FFI)")
        stages = fn if isinstance(fn, dict) else {"execute": fn}
        unknown = set(stages) - {"instantiate", "prepare", "initialize", "execute"}
        if unknown:
            raise ValueError(f"assay: custom call {name!r} has stages {sorted(unknown)}")
        pointers = [_pointer(stages[stage]) if stage in stages else None
                    for stage in ("instantiate", "prepare", "initialize", "execute")]
        error = ctypes.create_string_buffer(4096)
        text = name if isinstance(name, bytes) else name.encode()
        if register_handler(text, *pointers, getattr(traits, "value", int(traits)), error, len(error)) != 0:
            raise ValueError(error.value.decode(errors="replace"))

    register_ffi_type = plugin.AssayRegisterFfiType
    register_ffi_type.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p,
                                  ctypes.c_size_t]

    def register_type(name, registration):
        error = ctypes.create_string_buffer(4096)
        text = name if isinstance(name, bytes) else name.encode()
        info = registration.get("type_info")
        if register_ffi_type(text, _pointer(registration["type_id"]),
                             None if info is None else _pointer(info), error, len(error)) != 0:
            raise ValueError(error.value.decode(errors="replace"))

    xla_client.register_custom_call_handler(PLATFORM, register)
    if hasattr(xla_client, "register_custom_type_handler"):
        xla_client.register_custom_type_handler(PLATFORM, register_type)
    else:  # JAX 0.8: types without functions of their own
        xla_client.register_custom_type_id_handler(
            PLATFORM, lambda name, type_id: register_type(name, {"type_id": type_id}))
