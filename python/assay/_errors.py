"""Exceptions, one for each exit code of the command line."""

import contextlib

from assay import _assay


class Error(Exception):
    """Something that Assay refuses. The message is FILE:LINE:COL: error: ..., as the command prints it."""


class InvalidProgram(Error, ValueError):
    """The program does not parse, or breaks a rule of the specification (exit code 3)."""


class NotSupported(Error, NotImplementedError):
    """The program is valid and asks for something that Assay does not have (exit code 4)."""


class EvaluationFailed(Error, RuntimeError):
    """Wrong inputs, a limit, or an error at run time (exit code 5)."""


class ComparisonFailed(Error, AssertionError):
    """A comparison or a cross-check failed (exit code 1)."""


_BY_CODE = {1: ComparisonFailed, 3: InvalidProgram, 4: NotSupported, 5: EvaluationFailed}


@contextlib.contextmanager
def translated():
    try:
        yield
    except _assay.StatusError as error:
        message, code = error.args
        raise _BY_CODE.get(code, Error)(message) from None
