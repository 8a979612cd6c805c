"""Operations of the user's own: what HLO's custom-call, or JAX's ffi_call, means by their names.

    zero_out = assay.load_ops("./zero_out.so")  # a library (docs/custom_ops.md)
    zero_out.zero_out(x, preserve_index=2)      # on NumPy arrays: evaluated; inside of jax.jit: a custom call

    @assay.op("Acme.Twice", inputs=["x: T"], outputs=["y: T"], attrs=["T: {f32, f64}"], shape=lambda x: [x])
    def twice(x):                               # a kernel in NumPy, for tests of a backend's custom call
        return 2 * x

What is registered here counts for programs that are loaded from then on, in this process.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, Callable, Sequence

import numpy as np

from assay import _assay
from assay._errors import translated
from assay._module import load
from assay._types import NAMES, dtype_of

__all__ = ["GradientBuilder", "GradientError", "OpLibrary", "call", "check_gradient", "document", "gradient",
           "load_ops", "names", "not_differentiable", "op"]


# ---- registering ----


class OpLibrary:
    """The operations of a library, as functions: acme_zero_out, and zero_out where no
    two of them are called so."""

    def __init__(self, names_: Sequence[str]):
        short: dict[str, list[str]] = {}
        for name in names_:
            setattr(self, _assay.op_wrapper_name(name), _wrapper(name))
            short.setdefault(_assay.op_wrapper_name(name.rpartition(".")[2]), []).append(name)
        for function, found in short.items():
            if len(found) == 1 and not hasattr(self, function):
                setattr(self, function, _wrapper(found[0]))
        self.__all__ = [key for key in vars(self) if not key.startswith("_")]

    def __repr__(self) -> str:
        return f"<assay.ops.OpLibrary: {', '.join(self.__all__)}>"


_libraries: dict[str, list[str]] = {}  # what each file brought, for who loads it again


def load_ops(path: str | os.PathLike, *, isolate: bool = False) -> OpLibrary:
    """Loads a library of operations, all of it or nothing; a file that was loaded before changes nothing.

    `isolate`: a child process opens it first, so that a library whose start ends the process is an error.
    """
    path = os.path.realpath(os.fspath(path))
    with translated():
        added = _assay.load_ops(path, isolate)
    _libraries.setdefault(path, added)
    return OpLibrary(_libraries[path])


def op(name: str, *, inputs: Sequence[str], outputs: Sequence[str], attrs: Sequence[str] = (),
       shape: Callable | None = None, doc: str | None = None, side_effect: bool = False) -> Callable:
    """Registers a NumPy function as the kernel of a new operation; gives the operation's wrapper.

    `inputs`, `outputs` and `attrs` are the texts of a registration, "x: T", "T: {f32, s32}", "n: int >= 1 =
    2". The function takes an array for each operand and the attributes by name that it has parameters for,
    and returns an array for each output (a tuple for several), of the output's element type and shape.
    `shape` takes the operands' sizes (None for one that is not known) and attributes likewise, and returns
    the sizes of each output; without it the program's shapes are trusted.
    """

    def register(function: Callable) -> Callable:
        text = doc if doc is not None else (function.__doc__ or "")
        with translated():
            _assay.register_op(name, list(attrs), list(inputs), list(outputs), text, side_effect,
                               _kernel(function), None if shape is None else _shape_function(shape))
        return _wrapper(name)

    return register


def _taken(function: Callable, attributes: dict) -> dict:
    """The attributes that the function has parameters for; all where it has **."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & 0x08:
        return attributes
    known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    return {key: value for key, value in attributes.items() if key in known}


def _kernel(function: Callable) -> Callable:
    def run(inputs, outputs, attributes):
        arrays = [None if value is None
                  else np.frombuffer(value[2], np.uint8).view(dtype_of(value[0])).reshape(value[1])
                  for value in inputs]
        results = function(*arrays, **_taken(function, attributes))
        if not isinstance(results, (tuple, list)):
            results = [results]
        found = []
        for result, (element_type, _) in zip(results, outputs):
            array = np.asarray(result)
            if array.dtype != dtype_of(element_type):
                raise TypeError(f"a result of dtype {array.dtype}, wanted {dtype_of(element_type)}")
            found.append((list(array.shape), np.ascontiguousarray(array).reshape(-1).view(np.uint8)))
        return found + [None] * (len(results) - len(found))

    return run


def _shape_function(function: Callable) -> Callable:
    return lambda inputs, attributes: list(function(*inputs, **_taken(function, attributes)))


# ---- calling ----


def names() -> list[str]:
    """The registered operations."""
    return _assay.op_names()


def document(name: str) -> str:
    with translated():
        return _assay.op_document(name)


def __getattr__(function: str) -> Callable:
    """assay.ops.acme_zero_out: the wrapper of a registered operation."""
    for name in _assay.op_names():
        if _assay.op_wrapper_name(name) == function:
            return _wrapper(name)
    raise AttributeError(f"no registered operation has the wrapper {function!r}")


@functools.cache
def _wrapper(name: str) -> Callable:
    with translated():
        source = _assay.op_wrapper(name)
    scope: dict[str, Any] = {"_call": call}
    exec(source, scope)  # noqa: S102 (the text is ours: custom/python_wrapper.cc)
    return scope[_assay.op_wrapper_name(name)]


def call(op_name: str, operands: Sequence, attributes: dict[str, Any] | None = None, *,
         name: str | None = None, result=None):
    """Calls an operation: on NumPy arrays by evaluating it, on JAX's tracers by a custom call.

    Inputs that are sequences are lists among `operands`. `result` gives the shapes of the results, as
    (element type, sizes) or a list of them, where the operation has no shape function that says them.
    """
    del name
    attributes = dict(attributes or {})
    flat = []
    with translated():
        inputs = _assay.op_inputs(op_name)
    for value, (length_attr, is_type_list) in zip(operands, inputs):
        sequence = isinstance(value, (list, tuple)) and length_attr != ""
        if sequence:
            attributes[length_attr] = [_type_name(x) for x in value] if is_type_list else len(value)
        flat.extend(value if sequence else [value])
    if any(_is_tracer(value) for value in flat):
        return _traced(op_name, flat, attributes, result)
    arrays = [np.asarray(value) for value in flat]
    shapes = _results(op_name, arrays, attributes, result)
    text = _program(op_name, arrays, _config(attributes), shapes)
    return load(text, name=op_name).evaluate(*arrays)


def _type_name(value) -> str:
    dtype = np.dtype(value.dtype) if hasattr(value, "dtype") else np.asarray(value).dtype
    if dtype not in NAMES:
        raise TypeError(f"{dtype} is not an element type of HLO")
    return NAMES[dtype]


def _described(values) -> list[tuple[str, list[int]]]:
    return [(_type_name(value), list(np.shape(value))) for value in values]


def _results(op_name, operands, attributes, result) -> list[tuple[str, tuple]]:
    if result is not None:
        return [result] if isinstance(result, tuple) else list(result)
    with translated():
        found = _assay.op_outputs(op_name, _described(operands), _config(attributes))
    if any(sizes is None for _, sizes in found):
        raise ValueError(f"op {op_name} has no shape function that says its results' shapes: give ops.call result=")
    return found


def _config(attributes: dict) -> str:
    """The attributes as MLIR's dictionary."""

    def text(value) -> str:
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, (int, np.integer)):
            return f"{int(value)} : i64"
        if isinstance(value, (float, np.floating)):
            return f"0x{np.float64(value).view(np.uint64):016X} : f64"
        if isinstance(value, bytes):
            return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}"
                                 for b in value) + '"'
        if isinstance(value, str):
            return text(value.encode())
        if isinstance(value, (list, tuple, np.ndarray)):
            return "[" + ", ".join(text(item) for item in value) + "]"
        raise TypeError(f"an attribute can't be {value!r}")

    return "{" + ", ".join(f"{key} = {text(value)}" for key, value in attributes.items()) + "}"


def _program(op_name, operands, config: str, results) -> str:
    shapes = [f"{type_}[{','.join(map(str, sizes))}]" for type_, sizes in results]
    lines = [f"  x{i} = {type_}[{','.join(map(str, sizes))}] parameter({i})"
             for i, (type_, sizes) in enumerate(_described(operands))]
    escaped = config.replace("\\", "\\\\").replace('"', '\\"')
    root = shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
    arguments = ", ".join(f"x{i}" for i in range(len(operands)))
    lines.append(f'  ROOT r = {root} custom-call({arguments}), custom_call_target="{op_name}", '
                 f'custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config="{escaped}"')
    return "HloModule call\n\nENTRY main {\n" + "\n".join(lines) + "\n}\n"


# ---- JAX ----


def _is_tracer(value) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)


def _hashable(value):
    return tuple(_hashable(item) for item in value) if isinstance(value, (list, tuple)) else value


def _traced(op_name, operands, attributes, result):
    import jax

    shapes = _results(op_name, operands, attributes, result)
    specs = [jax.ShapeDtypeStruct(tuple(sizes), dtype_of(type_)) for type_, sizes in shapes]
    attributes = {key: _hashable(value) for key, value in attributes.items()}

    def bound(*values):
        return tuple(jax.ffi.ffi_call(op_name, specs)(*values, **attributes))

    function = jax.custom_vjp(bound)
    function.defvjp(lambda *values: (lambda outputs: (outputs, (values, outputs)))(bound(*values)),
                    functools.partial(_backward, op_name, _config(attributes), shapes))
    found = function(*operands)
    return found[0] if len(found) == 1 else found


def _backward(op_name, config, shapes, residuals, cotangents):
    import jax

    values, outputs = residuals
    with translated():
        text = _assay.op_gradient(op_name, _described(values), config,
                                  [(type_, list(sizes)) for type_, sizes in shapes])
    gradients = [jax.lax.sub(y, y) if g.dtype == jax.dtypes.float0 else g
                 for y, g in zip(outputs, cotangents)]
    found = _inline_primitive().bind(*values, *outputs, *gradients, text=text,
                                     results=tuple((tuple(x.shape), np.dtype(x.dtype)) for x in values))
    return tuple(g if jax.numpy.issubdtype(x.dtype, jax.numpy.inexact)
                 else np.zeros(x.shape, jax.dtypes.float0)
                 for x, g in zip(values, found))


@functools.cache
def _inline_primitive():
    """StableHLO text as a part of the program that is traced."""
    import jax
    from jax.extend.core import Primitive
    from jax._src.interpreters import mlir  # merge_mlir_modules has no public name
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func, stablehlo

    primitive = Primitive("assay_stablehlo")
    primitive.multiple_results = True
    primitive.def_abstract_eval(
        lambda *_, text, results: [jax.core.ShapedArray(shape, dtype) for shape, dtype in results])

    def lower(ctx, *operands, text, results):
        source = ir.Module.parse(text)
        types = list(source.body.operations[0].type.results)  # its one function's
        name = mlir.merge_mlir_modules(ctx.module_context.module, "assay_gradient", source,
                                       dst_symtab=ctx.module_context.symbol_table)
        packed = func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands).result  # a tuple
        return [stablehlo.get_tuple_element(packed, i) for i in range(len(results))]

    mlir.register_lowering(primitive, lower)
    return primitive


# ---- gradients ----


class GradientBuilder:
    """What a gradient function makes its instructions with; values are numbers of instructions."""

    def __init__(self, builder):
        self._builder = builder
        self.inputs, self.outputs, self.gradients = builder.inputs, builder.outputs, builder.gradients

    def add(self, opcode: str, operands: Sequence[int] = (), attributes: str = "", shape: str = "") -> int:
        """An instruction of HLO, with its attributes as text; `shape` where the opcode does not say it."""
        return self._builder.add(opcode, list(operands), attributes, shape)

    def shape(self, value: int) -> tuple[str, tuple]:
        return self._builder.shape(value)


def gradient(name: str) -> Callable:
    """Registers a gradient: a function of a GradientBuilder (and attributes by name) that returns a value, or
    None, for each input: dL/d(input), from builder.gradients, dL/d(output)."""

    def register(function: Callable) -> Callable:
        def build(builder, attributes):
            found = function(GradientBuilder(builder), **_taken(function, attributes))
            for i, value in enumerate(found if isinstance(found, (tuple, list)) else [found]):
                if value is not None:
                    builder.set_gradient(i, value)

        with translated():
            _assay.register_gradient(name, build)
        return function

    return register


def not_differentiable(name: str) -> None:
    """Says that the gradients of an operation's inputs are zero."""
    with translated():
        _assay.register_gradient(name, None)


class GradientError:
    """How far a gradient is from the numeric one: the largest absolute difference, and where it is."""

    def __init__(self, error: float, where: str, theoretical: float, numeric: float):
        self.error, self.where, self.theoretical, self.numeric = error, where, theoretical, numeric

    def __repr__(self) -> str:
        return (f"<assay.ops.GradientError {self.error:.3g} at {self.where}: gradient {self.theoretical:.9g}, "
                f"numeric {self.numeric:.9g}>")


def check_gradient(op_name: str, operands: Sequence, attributes: dict[str, Any] | None = None,
                   delta: float | None = None) -> GradientError:
    """Compares the registered gradient with central differences, (f(x + d) - f(x - d)) / 2d, element by
    element.

    The Jacobian is taken in the operands' own types: f64 operands, whose evaluation is exact but for one
    rounding, allow the step cbrt(eps) that is the default. Complex operands are moved in both parts. Integers
    have no gradient and stay.
    """
    attributes = dict(attributes or {})
    values = [np.asarray(value) for value in operands]
    outputs = _as_list(call(op_name, values, attributes))
    with translated():
        text = _assay.op_gradient(op_name, _described(values), _config(attributes), _described(outputs))
    backward = load(text, name=f"gradient of {op_name}")
    worst = GradientError(0.0, "nowhere", 0.0, 0.0)
    for k, output in enumerate(outputs):
        if not np.issubdtype(output.dtype, np.inexact):
            continue
        for place in np.ndindex(output.shape):
            for part in _parts(output.dtype):
                hots = [np.zeros_like(y) for y in outputs]
                hots[k][place] = part
                rows = _as_list(backward.evaluate(*values, *outputs, *hots))
                for i, value in enumerate(values):
                    if np.issubdtype(value.dtype, np.inexact):
                        found = _compare_row(op_name, values, attributes, delta, i, k, place, part, rows[i])
                        worst = found if not found.error <= worst.error else worst
    return worst


def _as_list(value) -> list:
    return list(value) if isinstance(value, tuple) else [value]


def _parts(dtype) -> list:
    return [1, 1j] if np.issubdtype(dtype, np.complexfloating) else [1]


def _compare_row(op_name, values, attributes, delta, i, k, place, part, row) -> GradientError:
    """dL/d(values[i]) for L = the part of element `place` of output k, against differences of that part."""
    worst = GradientError(0.0, "nowhere", 0.0, 0.0)
    step = delta if delta is not None else float(np.cbrt(np.finfo(values[i].dtype).eps))
    for at in np.ndindex(values[i].shape):
        for unit in _parts(values[i].dtype):
            sides = []
            for sign in (1, -1):
                moved = values[i].copy()
                moved[at] += sign * step * unit
                output = _as_list(call(op_name, values[:i] + [moved] + values[i + 1:], attributes))[k][place]
                sides.append((output, moved[at]))
            (high, above), (low, below) = sides
            width = (complex(above) - complex(below)) / unit
            numeric = ((complex(high) - complex(low)) / width).real if part == 1 else (
                (complex(high) - complex(low)) / width).imag
            # JAX's and XLA's convention: the cotangent of x + iy is dL/dx - i dL/dy.
            theoretical = complex(row[at]).real if unit == 1 else -complex(row[at]).imag
            if part == 1j:
                theoretical = -theoretical
            error = abs(theoretical - numeric)
            if not error <= worst.error:
                worst = GradientError(error, f"d output {k}{list(place)} / d input {i}{list(at)}",
                                      theoretical, numeric)
    return worst


op.__module__ = "assay"
