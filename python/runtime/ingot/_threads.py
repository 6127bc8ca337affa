# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of asynchronous runs."""
from __future__ import annotations

import os
import threading
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


def _after_fork() -> None:
    global _executor, _lock
    _executor = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
