"""Assay: what an XLA program means, to the last bit.

    import assay
    module = assay.load("program.hlo")            # HLO text, or a path to it
    result = module.evaluate(x, y)                # NumPy arrays in and out

    exact = assay.evaluate(jax_function)          # a JAX function, evaluated exactly
    y = exact(x)
    print(assay.check(jax_function, x))           # how far JAX's backend is from the exact result, in ulps
    assay.assert_matches(jax_function, x, ulps=4)
    print(assay.check(jax_function, x, profile="xla-cpu"))  # whether it is what a correct backend may return
    print(assay.check_training(step, state, batches, profile="xla-cpu"))  # and of a whole training run
    step = assay.record(step, profile="xla-cpu")  # wrong results become folders for `assay replay`

    assay.load_ops("./zero_out.so")               # operations of your own, for custom calls (assay.ops)

Errors are subclasses of assay.Error, with the message that the command `assay` prints.
"""

from assay._errors import ComparisonFailed, Error, EvaluationFailed, InvalidProgram, NotSupported
from assay._module import Module, load, sample_key
from assay._bounds import BoundsReport, Element, Estimated, OutputBounds, Reason, diff
from assay._report import LeafReport, Report, compare, ulp_distances
from assay._ffi import load_ffi_library, register_ffi_target, register_ffi_type
from assay._jax import assert_matches, check, evaluate, lower
from assay._record import record
from assay._training import TrainingReport, TrainingStep, check_training
from assay import ops
from assay.ops import load_ops, op
from assay._assay import version as __version__

__all__ = [
    "BoundsReport", "ComparisonFailed", "Element", "Error", "Estimated", "EvaluationFailed", "InvalidProgram",
    "LeafReport", "Module",
    "NotSupported", "OutputBounds", "Reason", "Report", "TrainingReport", "TrainingStep", "__version__",
    "assert_matches", "check", "check_training", "compare", "diff", "evaluate", "load",
    "load_ffi_library", "load_ops", "lower", "op", "ops", "record",
    "register_ffi_target", "register_ffi_type",
    "sample_key", "ulp_distances",
]
