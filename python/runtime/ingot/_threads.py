# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of asynchronous runs."""
from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import deque
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


class Gate:
    """Lets the asynchronous runs of a loop start in turn: two for each thread.

    Without it, a thousand runs that start at once would block the loop. A waiting run costs one future, so that even
    the thousand calls are a matter of two milliseconds.
    """

    def __init__(self) -> None:
        self._free = 2 * _core.cpu_count()
        self._waiting: deque[asyncio.Future[None]] = deque()

    def enter(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """Takes a place. Returns None if there is one, or else a future to wait for with `wait`."""
        if self._free:
            self._free -= 1
            return None
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        return turn

    async def wait(self, turn: asyncio.Future[None]) -> None:
        """Waits for a place. A task that is cancelled meanwhile gives its place to the next one."""
        try:
            await turn
        except BaseException:
            if not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Gives a place to the run that has waited for longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


_gates: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Gate] = weakref.WeakKeyDictionary()


def gate(loop: asyncio.AbstractEventLoop) -> Gate:
    """Returns the gate of a loop."""
    found = _gates.get(loop)
    if found is None:
        found = _gates[loop] = Gate()
    return found


def _after_fork() -> None:
    global _executor, _lock
    _executor = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
