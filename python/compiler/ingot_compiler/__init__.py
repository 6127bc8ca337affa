# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler of Ingot. `import ingot` has all its functions, too.

Each function starts the program `ingot`. So a crash of the compiler is an exception, and no LLVM enters this process.
"""
from ._commands import bench, calibrate, compare, compile, compile_to, inspect
from ._errors import CacheError, CompileError, CompilerWarning, Diagnostic
from ._process import Progress, executable
from ._results import BenchResult, CalibrationResult, Comparison, CompileResult, Inspection

__all__ = [
    "BenchResult", "CacheError", "CalibrationResult", "Comparison", "CompileError", "CompileResult", "CompilerWarning",
    "Diagnostic", "Inspection", "Progress", "bench", "calibrate", "compare", "compile", "compile_to", "executable",
    "inspect",
]
