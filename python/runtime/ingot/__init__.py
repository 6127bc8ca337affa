# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ingot: compiles ONNX models ahead of time and runs the result.

The package `ingot-runtime` runs models. The package `ingot-compiler` adds the functions that compile and measure them.
"""
from __future__ import annotations

from typing import Any, TYPE_CHECKING

from ._core import cpu_count, cpu_level
from ._core import VERSION as _VERSION
from ._descriptions import Inferred, Layer, ModelInfo, SizeRange, TensorSpec, Times
from ._errors import (BackendError, BadArtifact, BufferTooSmall, Busy, Cancelled, Error, InvalidArgument, InvalidType,
                      NotFound, OutOfMemory, RuntimeCheck, Timeout, Unsupported, VersionMismatch)
from ._model import Context, Model, Profile, load
from ._pool import Pool

if TYPE_CHECKING:
    from ingot_compiler import (BenchResult as BenchResult,
                                CalibrationResult as CalibrationResult,
                                Comparison as Comparison,
                                CompileError as CompileError,
                                CompileResult as CompileResult,
                                Diagnostic as Diagnostic,
                                Inspection as Inspection,
                                bench as bench,
                                calibrate as calibrate,
                                compare as compare,
                                compile as compile,
                                inspect as inspect)

# Names that the package ingot-compiler adds.
_COMPILER = ("BenchResult", "CalibrationResult", "Comparison", "CompileError", "CompileResult", "Diagnostic",
             "Inspection", "bench", "calibrate", "compare", "compile", "inspect")

__version__ = _VERSION

__all__ = [
    "__version__",
    "BackendError", "BadArtifact", "BufferTooSmall", "Busy", "Cancelled", "Context", "Error", "Inferred",
    "InvalidArgument", "InvalidType", "Layer", "Model", "ModelInfo", "NotFound", "OutOfMemory", "Pool", "Profile",
    "RuntimeCheck", "SizeRange", "TensorSpec", "Timeout", "Times", "Unsupported", "VersionMismatch", "cpu_count",
    "cpu_level", "load",
]


def __getattr__(name: str) -> Any:
    if name not in _COMPILER:
        raise AttributeError(f"module 'ingot' has no attribute '{name}'")
    try:
        import ingot_compiler
    except ModuleNotFoundError as error:
        if error.name != "ingot_compiler":
            raise
        raise Unsupported(f"ingot.{name} needs the package ingot-compiler; install it with pip") from None
    return getattr(ingot_compiler, name)
