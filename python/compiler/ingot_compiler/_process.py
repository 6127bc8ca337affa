# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the program `ingot` and reads what it prints."""
from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import selectors
import signal
import subprocess
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ingot

from ._errors import CompileError, CompilerWarning, Diagnostic
from ._options import OPTIONS


@dataclass(frozen=True)
class Progress:
    """A step of a command. `fraction` goes from 0 to 1; `remaining` is an estimate in seconds."""

    phase: str
    fraction: float | None
    remaining: float | None

    def __str__(self) -> str:
        share = "" if self.fraction is None else f"{self.fraction:4.0%} "
        return share + self.phase


@functools.lru_cache(maxsize=None)
def _installed() -> str | None:
    try:
        files = importlib.metadata.files("ingot-compiler") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "ingot" and file.parent.name in ("bin", "Scripts"):
            return os.path.realpath(str(file.locate()))
    return None


def executable() -> str:
    """Returns the path of the program: that of INGOT_COMPILER, or that of this package.

    Raises ingot.NotFound if there is none.
    """
    path = os.environ.get("INGOT_COMPILER") or _installed()
    if not path or not os.access(path, os.X_OK):
        raise ingot.NotFound(f"the compiler {path or 'ingot'} is not there; install ingot-compiler again, or let "
                             "INGOT_COMPILER name the program")
    return path


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "x".join("?" if size is None else str(size) for size in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def arguments(command: str, options: Mapping[str, Any]) -> list[str]:
    """Returns the options as arguments of a command line. Raises InvalidArgument for an unknown option."""
    known = {name.replace("-", "_"): name for name in OPTIONS[command]}
    made = []
    for key, value in options.items():
        if key not in known:
            raise ingot.InvalidArgument(f"{command}: no option '{key}'; the options are {', '.join(sorted(known))}")
        flag = "--" + known[key]
        if value is None:
            continue
        if isinstance(value, bool) and known[key] in _flags(command):
            made += [flag] if value else []
        elif isinstance(value, Mapping):
            made += [f"{flag}={name}={_text(one)}" for name, one in value.items()]
        elif isinstance(value, (list, tuple)):
            made += [f"{flag}={_text(one)}" for one in value]
        else:
            made.append(f"{flag}={_text(value)}")
    return made


@functools.lru_cache(maxsize=None)
def _flags(command: str) -> frozenset[str]:
    from ._options import FLAGS
    return frozenset(FLAGS[command])


def run(command: str, positional: Sequence[str], options: Mapping[str, Any], *, extra: Sequence[str] = (),
        timeout: float | None = None, progress: Callable[[Progress], object] | None = None,
        descriptors: Sequence[int] = (), accepted: Sequence[int] = (0,)) -> dict[str, Any]:
    """Runs a command of `ingot` and returns its JSON document.

    Raises CompileError if it fails, ingot.InvalidArgument for wrong options, and ingot.Timeout after `timeout` seconds.
    """
    line = [executable(), command, *positional, "--json", *extra, *arguments(command, options)]
    if timeout is not None and not timeout >= 0:
        raise ingot.InvalidArgument(f"timeout: expected seconds, 0 or more, but got {timeout}")
    try:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   pass_fds=descriptors)
    except OSError as error:
        raise ingot.NotFound(f"cannot start the compiler {line[0]}: {error}") from error
    output = _Output(progress)
    try:
        output.read(process, None if timeout is None else time.monotonic() + timeout)
    except TimeoutError:
        raise ingot.Timeout(f"ingot {command} took longer than {timeout} s") from None
    finally:
        _end(process)
    for message in output.messages:
        if message.severity == "warning":
            warnings.warn(str(message), CompilerWarning, stacklevel=3)
    if process.returncode in accepted:
        try:
            document = json.loads(output.document)
        except ValueError:
            raise CompileError(f"ingot {command} printed no result", output.messages, line) from None
        if document.get("schema") != "ingot." + command or document.get("version") != 1:
            raise CompileError(f"ingot {command} is of another version: it printed {document.get('schema')} "
                               f"{document.get('version')}", (), line)
        return dict(document)
    raise output.error(command, process.returncode, line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that still works, as a user would; after a moment by force."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(0.15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


class _Output:
    """What a command prints: a document on standard output, and lines on standard error."""

    def __init__(self, progress: Callable[[Progress], object] | None) -> None:
        self._progress = progress
        self.document = b""
        self.messages: list[Diagnostic] = []
        self._rest = b""
        self._other = ""  # the last line that is no JSON

    def read(self, process: subprocess.Popen[bytes], deadline: float | None) -> None:
        """Reads until the process ends. Raises TimeoutError at the deadline."""
        assert process.stdout is not None and process.stderr is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError
                for key, _ in selector.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        self.document += data
                    else:
                        self._take(data)
        try:
            process.wait(None if deadline is None else max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        if self._rest:
            self._line(self._rest)

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            value = json.loads(line)
            kind = value["type"]
        except (ValueError, KeyError, TypeError):
            self._other = line.decode("utf-8", "replace").strip() or self._other
            return
        if kind == "message":
            self.messages.append(Diagnostic.of_line(value))
        elif kind == "progress" and self._progress is not None:
            self._progress(Progress(value["phase"], value.get("fraction"), value.get("remaining_s")))

    def error(self, command: str, code: int, line: Sequence[str]) -> ingot.Error:
        """Returns the exception for a command that failed."""
        errors = [message for message in self.messages if message.severity == "error"]
        if code == 2:
            return ingot.InvalidArgument("\n".join(map(str, errors)) or f"ingot {command}: wrong options")
        text = "\n".join(map(str, errors)) or self._other
        if code < 0:
            name = next((one.name for one in signal.Signals if one == -code), f"signal {-code}")
            text = f"ingot {command} was ended by {name}" + (f": {text}" if text else "")
        return CompileError(text or f"ingot {command} failed with exit code {code}", errors, line)
