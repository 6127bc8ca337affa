# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled models, in the user's cache folder.

An entry is a compiled model, named by a hash of all that it is made from. New entries come with one rename, so several
processes may use the cache at a time. INGOT_CACHE names the folder, INGOT_CACHE_BYTES its most bytes (8 GiB).
"""
from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import ingot

from . import _models
from ._errors import CacheError
from ._process import arguments, executable

# Options that write files of their own, which a cached model would not have.
_WRITING = ("report", "decisions", "header")
# The start of the names of folders for new entries, and the seconds after which their compilation has surely ended.
_NEW, _OLD = "new-", 7 * 86400


def folder() -> str:
    """Returns the folder of the cache. Raises CacheError if it cannot be made."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    path = os.environ.get("INGOT_CACHE") or os.path.join(home, "ingot")
    if path.startswith("~"):
        raise CacheError("the user has no home folder for the cache; let INGOT_CACHE name a folder, or pass output=")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise _unusable(path, error) from error
    return path


def _limit() -> int:
    """Returns the most bytes of the cache."""
    text = os.environ.get("INGOT_CACHE_BYTES")
    if not text:
        return 8 << 30
    if not text.isdecimal() or len(text) > 19:
        raise ingot.InvalidArgument(f"INGOT_CACHE_BYTES: expected a number of bytes, but got {text[:80]!r}")
    return int(text)


def entry(model: str | bytes, options: Mapping[str, Any]) -> str:
    """Returns the path of the entry for a model and options, whether it exists or not."""
    for name in _WRITING:
        if options.get(name):
            raise ingot.InvalidArgument(f"the option {name} writes a file beside the model; pass output=")
    if callable(options.get("metric")):
        raise ingot.InvalidArgument("a model that a function has judged is not cached; pass output=")
    if options.get("weights") == "file" or options.get("kernels") == "auto":
        raise ingot.InvalidArgument("separate files beside the model need output=")
    _limit()  # A wrong one is refused before the work.
    digest = hashlib.sha256()
    content = model if isinstance(model, bytes) else _read(model)
    _add(digest, content)
    if isinstance(model, str):
        for path in _models.external_files(content, os.path.dirname(os.path.abspath(model))):
            _add(digest, _read(path))
    for argument in sorted(arguments("compile", options)):
        _add(digest, argument.encode())
        path = argument.partition("=")[2]
        if os.path.isdir(path):
            raise ingot.InvalidArgument(f"a model made from the folder {path} is not cached; pass output=")
        if os.path.isfile(path):
            _add(digest, _read(path))
    program = os.stat(executable())
    _add(digest, f"{ingot.__version__} {program.st_size} {program.st_mtime_ns} {ingot.cpu_level()}".encode())
    return os.path.join(folder(), digest.hexdigest() + ".so")


def _add(digest: Any, content: bytes) -> None:
    digest.update(len(content).to_bytes(8, "little"))
    digest.update(content)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ingot.NotFound(f"cannot open '{path}': {error.strerror}") from error


def mark_used(path: str) -> None:
    """Marks an entry as used. A cache that cannot be written serves all the same."""
    try:
        # The time of its content stays, which tells loaded models that their file is the same.
        os.utime(path, ns=(time.time_ns(), os.stat(path).st_mtime_ns))
    except OSError:
        pass


def new_folder() -> tempfile.TemporaryDirectory[str]:
    """Returns a folder for a new entry. Raises CacheError if the cache cannot be written."""
    where = folder()
    try:
        return tempfile.TemporaryDirectory(dir=where, prefix=_NEW)
    except OSError as error:
        raise _unusable(where, error) from error


def add(made: str, path: str) -> None:
    """Makes a file an entry. Raises CacheError if the cache cannot be written."""
    try:
        os.replace(made, path)
    except OSError as error:
        raise _unusable(os.path.dirname(path), error) from error


def _unusable(path: str, error: OSError) -> CacheError:
    return CacheError(f"cannot use the cache folder {path}: {error.strerror}; let INGOT_CACHE name another, or pass "
                      "output=")


def remove(path: str) -> None:
    """Removes an entry. Raises CacheError if it cannot be removed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass  # Another process has removed it.
    except OSError as error:
        raise CacheError(f"cannot remove the damaged cache entry {path}: {error.strerror}; remove it, or pass output="
                         ) from error


def trim(keep: str) -> None:
    """Removes the entries that were not used for longest, until the cache fits. Keeps one entry. Also removes what
    compilations have left that were killed long ago."""
    limit = _limit()
    entries = []
    try:
        items = list(os.scandir(os.path.dirname(keep)))
    except OSError:
        return  # A cache that cannot be listed serves all the same.
    for item in items:
        try:
            status = item.stat()
        except OSError:
            continue  # Another process has removed it.
        if item.name.endswith(".so"):
            entries.append((max(status.st_atime, status.st_mtime), status.st_size, item.path))
        elif item.name.startswith(_NEW) and status.st_mtime < time.time() - _OLD:
            shutil.rmtree(item.path, ignore_errors=True)
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        if path == keep:
            continue
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError:
            continue  # An entry that cannot be removed stays.
        total -= size
