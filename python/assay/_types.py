"""Element types and their NumPy dtypes. Types that NumPy lacks are those of ml_dtypes."""

import numpy as np

try:
    import ml_dtypes
except ImportError:  # Debian 12 has no package of it; arrays of its types are then raw bytes
    ml_dtypes = None

_NUMPY = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}
_ML_DTYPES = {
    "bf16": "bfloat16", "s2": "int2", "u2": "uint2", "s4": "int4", "u4": "uint4", "s1": "int1", "u1": "uint1",
    "f4e2m1fn": "float4_e2m1fn", "f6e2m3fn": "float6_e2m3fn", "f6e3m2fn": "float6_e3m2fn",
    "f8e3m4": "float8_e3m4", "f8e4m3": "float8_e4m3", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu",
}

DTYPES: dict[str, np.dtype] = {name: np.dtype(type_) for name, type_ in _NUMPY.items()}
DTYPES.update({name: np.dtype(getattr(ml_dtypes, type_)) for name, type_ in _ML_DTYPES.items()
               if hasattr(ml_dtypes, type_)})
NAMES: dict[np.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}


def dtype_of(element_type: str) -> np.dtype:
    """The dtype of an element type; raw bytes where this ml_dtypes has none."""
    return DTYPES.get(element_type, np.dtype("u1"))


def descriptor(dtype: np.dtype) -> str:
    """As .npy files describe the dtype: what NumPy lacks is raw bytes."""
    return f"|V{dtype.itemsize}" if dtype.kind == "V" or dtype in _RAW else dtype.str


def element_type(dtype: np.dtype) -> str:
    """The element type that only the dtype's name tells, not its descriptor;
    empty for raw bytes and NumPy's own types."""
    return NAMES[dtype] if dtype in _RAW else ""


_RAW = {DTYPES[name] for name in _ML_DTYPES if name in DTYPES}
