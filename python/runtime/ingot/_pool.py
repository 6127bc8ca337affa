# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that several contexts share."""
from __future__ import annotations

from . import _check, _core

# Microseconds that fit into the runtime's 32 bits.
_MAX_SPIN = 2**32 - 1


class Pool(_core.Pool):
    """Threads that several contexts share.

    threads: their number, with the thread that runs; 0: one for each CPU of the process.
    spin_us: microseconds for which an idle thread looks for work before it sleeps.
    """

    __slots__ = ()

    def __init__(self, threads: int = 0, spin_us: int = 0) -> None:
        super().__init__(_check.threads(threads), _check.whole("spin_us", spin_us, _MAX_SPIN))

    __setattr__ = _check.refuse_set
    __delattr__ = _check.refuse_delete
