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
from ingot import _check

from ._errors import CompileError, CompilerWarning, Diagnostic
from ._options import OPTIONS

# The largest number of an option.
_MAX_NUMBER = 2**63 - 1
# Seconds for which the program's pipes are waited for at a time. Longer ones do not fit into milliseconds of 32 bits.
_MAX_WAIT = 3600.0


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


def _text(name: str, value: Any) -> str:
    """Returns the value of an option as the program takes it."""
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "x".join("?" if size is None else _text(name, size) for size in value)
    if isinstance(value, str):
        return _check.text(name, value)
    if isinstance(value, os.PathLike):
        return _check.path(name, value)
    if hasattr(value, "__index__"):
        return str(_check.whole(name, value, _MAX_NUMBER, -_MAX_NUMBER))
    if not hasattr(value, "__float__"):
        raise ingot.InvalidType(f"{name}: expected text, a number, a path or sizes, but got {_check.type_of(value)}")
    return str(value)


def arguments(command: str, options: Mapping[str, Any]) -> list[str]:
    """Returns the options as arguments of a command line. Raises InvalidArgument for a wrong option."""
    known = {name.replace("-", "_"): name for name in OPTIONS[command]}
    made = []
    for key, value in options.items():
        if key not in known:
            raise ingot.InvalidArgument(f"{command}: no option '{key}'; the options are {', '.join(sorted(known))}")
        flag = "--" + known[key]
        if value is None:
            continue
        if known[key] in _flags(command) and not isinstance(value, str):
            made += [flag] if _check.flag(key, value) else []
        elif isinstance(value, Mapping):
            made += [f"{flag}={_text(key, name)}={_text(key, one)}" for name, one in value.items()]
        elif isinstance(value, (list, tuple)):
            made += [f"{flag}={_text(key, one)}" for one in value]
        else:
            made.append(f"{flag}={_text(key, value)}")
    return made


def check_settings(timeout: float | None, progress: Callable[[Progress], object] | None) -> None:
    """Raises InvalidArgument for a wrong timeout or progress."""
    if timeout is not None:
        _check.seconds("timeout", timeout)
    if progress is not None:
        _check.function("progress", progress)


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
    limit = None if timeout is None else _check.seconds("timeout", timeout)
    line = [executable(), command, *positional, "--json", *extra, *arguments(command, options)]
    output = _Output(progress, is_in_memory=bool(descriptors))
    try:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   pass_fds=descriptors)
    except OSError as error:
        raise ingot.NotFound(f"cannot start the compiler {line[0]}: {error}") from error
    try:
        output.read(process, None if limit is None else time.monotonic() + limit)
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
            if any(message.severity == "error" for message in output.messages):
                # A program that ignores SIGCHLD does not get exit codes.
                raise output.error(command, 1, line) from None
            raise CompileError(f"ingot {command} printed no result", output.messages, line) from None
        if document.get("schema") != "ingot." + command or document.get("version") != 1:
            raise CompileError(f"ingot {command} is of another version: it printed {document.get('schema')} "
                               f"{document.get('version')}", (), line)
        return dict(document)
    raise output.error(command, process.returncode, line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that still works, as a user would; after a moment by force."""
    try:
        if process.poll() is None:
            process.terminate()
            process.wait(0.15)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # A second Ctrl-C may have ended the wait.
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


class _Output:
    """What a command prints: a document on standard output, and lines on standard error."""

    def __init__(self, progress: Callable[[Progress], object] | None, is_in_memory: bool) -> None:
        self._progress, self._is_in_memory = progress, is_in_memory
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
                for key, _ in selector.select(None if left is None else min(left, _MAX_WAIT)):
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
            if self._is_in_memory and value.get("file", "").startswith("/proc/self/fd/"):
                del value["file"]  # The model has no file.
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
