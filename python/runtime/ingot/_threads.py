# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of asynchronous runs."""
from __future__ import annotations

import asyncio
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

from . import _core

_lock = threading.Lock()
_executor: ThreadPoolExecutor | None = None


def executor() -> ThreadPoolExecutor:
    """Returns the threads that all models share: one for each CPU of the process."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(_core.cpu_count(), thread_name_prefix="ingot-run")
        return _executor


_gates: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def gate(loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
    """Returns the gate that asynchronous runs of a loop pass one after another.

    It lets two runs for each thread pass, so that a thousand runs at once do not block the loop while they start.
    """
    found = _gates.get(loop)
    if found is None:
        found = _gates[loop] = asyncio.Semaphore(2 * _core.cpu_count())
    return found


def _after_fork() -> None:
    global _executor, _lock
    _executor = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
