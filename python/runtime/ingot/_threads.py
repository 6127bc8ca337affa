# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of asynchronous runs."""
from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import _core

_lock = threading.Lock()
_executor: ThreadPoolExecutor | None = None
#: The cancellations of the asynchronous runs that have not ended.
running: set[_core.Cancellation] = set()


def executor() -> ThreadPoolExecutor:
    """Returns the threads that all models share: one for each CPU of the process."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(_core.cpu_count(), thread_name_prefix="ingot-run")
        return _executor


def _cancel_all() -> None:
    """Ends the runs whose event loop is gone, when the program ends."""
    for cancellation in tuple(running):
        cancellation.request()
    _core.wait_for_runs()


# The most runs whose ends a loop hears of before it goes on with other work.
_BATCH = 16


class Gate:
    """Lets the asynchronous runs of a loop start in turn: one for each thread, and one that waits for a thread.

    Without it, a thousand runs that start at once would block the loop. A waiting run costs one future, so that even
    the thousand calls are a matter of two milliseconds. Threads of the extension module execute the runs. They never
    need the GIL, and a descriptor that the loop watches tells that runs have ended.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._free = _core.cpu_count() + 1
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._runs: _core.AsyncRuns | None = _core.AsyncRuns()
        try:
            loop.add_reader(self._runs.fileno(), self._hear)
        except NotImplementedError:
            self._runs = None  # `executor` serves such a loop.

    def can_run(self) -> bool:
        """Returns False if the loop cannot watch descriptors."""
        return self._runs is not None

    async def run(self, model: _core.Model, arrays: tuple[Any, ...], receivers: tuple[Any, ...] | None, threads: int,
                  cancellation: _core.Cancellation) -> tuple[Any, ...]:
        """Runs a model and returns its outputs."""
        assert self._runs is not None
        ended: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()
        # A task that is cancelled takes its future away. Otherwise the run would hold the loop until it ends.
        holder = [ended]
        self._runs.start(model, arrays, receivers, threads, cancellation, holder)
        try:
            return await ended
        finally:
            holder.clear()

    def _hear(self) -> None:
        assert self._runs is not None
        for holder, values, error in self._runs.take(_BATCH):
            for ended in holder:
                if ended.done():
                    continue  # Its task is being cancelled.
                if error is None:
                    ended.set_result(values)
                else:
                    ended.set_exception(error)

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
        # Loops of other threads come and go meanwhile.
        with _lock:
            # A run whose task was never cancelled holds its loop, and so the loop's gate.
            for closed in [one for one in _gates.keys() if one.is_closed()]:
                del _gates[closed]
            found = _gates[loop] = Gate(loop)
    return found


def _after_fork() -> None:
    global _executor, _lock
    _executor = None
    running.clear()
    _core.forget_runs()
    _gates.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
# Functions of `atexit` are called after the program has waited for the executor's threads.
getattr(threading, "_register_atexit", atexit.register)(_cancel_all)
