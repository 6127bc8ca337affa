# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors and messages of the compiler."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ingot


class CompilerWarning(UserWarning):
    """A warning of the compiler."""


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler. Texts are empty if the compiler does not know them."""

    severity: str
    text: str
    node: str = ""
    operator: str = ""
    scope: str = ""
    hint: str = ""
    file: str = ""

    @staticmethod
    def of_line(line: dict[str, Any]) -> Diagnostic:
        """Returns the message of a line of JSON."""
        names = ("severity", "text", "node", "operator", "scope", "hint", "file")
        return Diagnostic(**{name: str(line.get(name, "")) for name in names})

    def __str__(self) -> str:
        place = f"{self.operator} '{self.node}': " if self.node else ""
        return place + self.text + (f"; {self.hint}" if self.hint else "")


class CompileError(ingot.Error):
    """The compiler refused the model, or ended without a result.

    `diagnostics` has its errors, `command` the command line.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), command: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
        self.command = list(command)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompileError, (str(self), self.diagnostics, self.command)


class CacheError(ingot.Error, OSError):
    """The cache folder cannot be used."""
