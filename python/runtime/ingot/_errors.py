# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions. Each is an `ingot.Error` and, where Python has one, the built-in exception of the same meaning."""
from __future__ import annotations


class Error(RuntimeError):
    """The base of all errors of Ingot."""

    #: The status of the C API, e.g. 1 for an invalid argument; 0 if the error did not come from there.
    status: int = 0


class InvalidArgument(Error, ValueError):
    """A wrong argument: a name, count, shape, layout or alignment."""


class InvalidType(InvalidArgument, TypeError):
    """An argument of a wrong type: an object that is no array, or an array with other elements."""


class BufferTooSmall(InvalidArgument):
    """An array of `out=` is too small."""


class OutOfMemory(Error, MemoryError):
    """No memory for a context or an output."""


class NotFound(Error, FileNotFoundError):
    """A file or a device does not exist."""


class BadArtifact(Error, ValueError):
    """The file is no compiled model, or it is damaged, or it was replaced."""


class VersionMismatch(Error):
    """The file was made for another version of the runtime."""


class Unsupported(Error, NotImplementedError):
    """The model has no code for this machine, or a function is missing."""


class BackendError(Error):
    """A library that the model uses, e.g. oneDNN, failed."""


class RuntimeCheck(Error, ArithmeticError):
    """A check on the data failed in a run, e.g. an index out of range."""


class Busy(Error):
    """The context or profile is in use by another thread."""


class Cancelled(Error):
    """The run was cancelled."""


class Timeout(Cancelled, TimeoutError):
    """The run or compilation took longer than its `timeout`."""


_CLASSES: dict[int, type[Error]] = {
    1: InvalidArgument,
    2: BufferTooSmall,
    3: OutOfMemory,
    4: NotFound,
    5: BadArtifact,
    6: VersionMismatch,
    7: Unsupported,
    8: BackendError,
    9: RuntimeCheck,
    10: Busy,
    11: Cancelled,
}


def make(status: int, message: bytes) -> Error:
    """Returns the exception for a status of the C API."""
    error = _CLASSES.get(status, Error)(message.decode("utf-8", "replace"))
    error.status = status
    return error
