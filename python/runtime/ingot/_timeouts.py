# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timeouts of runs: one thread requests the cancellation of each run at its deadline."""
from __future__ import annotations

import heapq
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from . import _check, _core
from ._errors import OutOfMemory


class _Watchdog:
    """Deadlines, and a thread that waits for the next one. The thread starts when it is first needed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: list[tuple[float, int, _core.Cancellation]] = []
        self._count = 0
        self._thread: threading.Thread | None = None

    def add(self, deadline: float, cancellation: _core.Cancellation) -> tuple[float, int, _core.Cancellation]:
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._watch, name="ingot-timeouts", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    raise OutOfMemory(f"no thread for timeouts: {error}") from error
                self._thread = thread
            self._count += 1
            entry = (deadline, self._count, cancellation)
            heapq.heappush(self._deadlines, entry)
            if self._deadlines[0] is entry:
                self._changed.notify()
            return entry

    def remove(self, entry: tuple[float, int, _core.Cancellation]) -> None:
        with self._changed:
            if entry in self._deadlines:
                self._deadlines.remove(entry)
                heapq.heapify(self._deadlines)

    def _watch(self) -> None:
        with self._changed:
            while True:
                if not self._deadlines:
                    self._changed.wait()
                    continue
                left = self._deadlines[0][0] - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                heapq.heappop(self._deadlines)[2].request()


_watchdog = _Watchdog()


def _after_fork() -> None:
    global _watchdog
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_after_fork)


class Deadline:
    """The end of the time that a run has."""

    def __init__(self, timeout: float) -> None:
        self._end = time.monotonic() + _check.seconds("timeout", timeout)

    @contextmanager
    def of(self, cancellation: _core.Cancellation) -> Iterator[None]:
        """Cancels the run of a block at the deadline, unless the block ends before."""
        entry = _watchdog.add(self._end, cancellation)
        try:
            yield
        finally:
            _watchdog.remove(entry)

    def has_passed(self) -> bool:
        """Returns true if the time is over."""
        return time.monotonic() >= self._end
