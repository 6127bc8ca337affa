# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of Python as metrics of `ingot compile` and `ingot compare`.

The program starts a command for each score. The command asks this process, whose thread calls the function.
"""
from __future__ import annotations

import glob
import json
import math
import os
import shlex
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

import ingot
from ingot import _check

Metric = Callable[[dict[str, Any], Any], float]
"""A function of outputs and labels that returns a score. Larger scores are better."""


def _join(arrays: list[Any]) -> Any:
    """Returns one array of all samples, or the list if their shapes do not fit."""
    if all(one.ndim and one.shape[1:] == arrays[0].shape[1:] for one in arrays):
        return np.concatenate(arrays)
    return arrays


def _load(folder: str, kind: str, about: dict[str, Any]) -> dict[str, Any]:
    # A name of an output may have characters that are special in patterns.
    return {one["name"]: _join([np.load(path) for path in
                                sorted(glob.glob(f"{glob.escape(folder)}/{kind}.*.{glob.escape(one['file'])}.npy"))
                                if os.path.basename(path).split(".", 2)[2] == one["file"] + ".npy"])
            for one in about["outputs"]}


def score(metric: Metric, folder: str) -> float:
    """Calls a function with the outputs and labels of a folder."""
    with open(os.path.join(folder, "outputs.json"), encoding="utf-8") as file:
        about = json.load(file)
    labels = np.load(os.path.join(folder, "labels.npy")) if about["labels"] else _load(folder, "fp32", about)
    result = metric(_load(folder, "model", about), labels)
    try:
        number = float(result)
    except (TypeError, ValueError):
        raise ingot.InvalidType("metric: expected the function to return one number, but got "
                                f"{_check.type_of(result)}") from None
    if not math.isfinite(number):
        raise ingot.InvalidArgument(f"metric: expected the function to return a finite number, but got {number}")
    return number


class Served:
    """A function that a command of the shell can call while this object is entered."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.error: BaseException | None = None  # what the function has raised
        if not sys.executable:
            raise ingot.InvalidArgument("metric: this process has no Python program to start; pass a command")

    def __enter__(self) -> Served:
        self._folder = tempfile.TemporaryDirectory(prefix="ingot-metric-")
        path = os.path.join(self._folder.name, "socket")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_score.py")
        self.command = shlex.join([sys.executable, "-S", "-E", client, path])
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        # Closing alone does not wake the thread.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._folder.cleanup()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        try:
            folder = connection.makefile("rb").readline().decode().rstrip("\n")
            reply = f"{score(self._metric, folder)!r}\n"
        except BaseException as error:
            self.error = error
            reply = f"error {type(error).__name__}: {error}\n"
        try:
            connection.sendall(reply.encode())
        except OSError:
            pass  # The command was ended.
