# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of models, their tensors and their layers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _arrays

#: The largest size of a dimension.
MAX_SIZE = 2**63 - 1


class SizeRange(NamedTuple):
    """The sizes that a dimension may have. `usual` is None if there is no usual size, `max` if there is no bound."""

    min: int
    usual: int | None
    max: int | None
    multiple: int


class TensorSpec(NamedTuple):
    """An input or output of a model.

    An element of `shape` is a number, the name of an open dimension, or None for an open dimension without a name.
    `profiles` has an entry for each shape profile: the ranges of open dimensions, by the dimension's index.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    profiles: tuple[Mapping[int, SizeRange], ...] = ()

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of arrays that hold the tensor: see `docs/guide` on types that numpy does not have."""
        return _arrays.numpy_dtype(self.dtype)


class ModelInfo(NamedTuple):
    """Properties of a model. Sizes are in bytes."""

    name: str
    compiler: str
    target: str
    variants: tuple[str, ...]
    arena_bytes: int
    weights_bytes: int
    code_bytes: int
    separate_weights: bool
    libraries: tuple[str, ...]
    precisions: tuple[str, ...]


class Layer(NamedTuple):
    """A part of a run that computes certain ONNX nodes. `flops` and `bytes` are 0 if they are unknown."""

    kind: str
    nodes: tuple[str, ...]
    flops: int
    bytes: int
    backend: str
    reason: str
    precision: str


class Inferred(NamedTuple):
    """Sizes for given sizes of inputs. A size that depends on data is None; so is then `arena_bytes`."""

    shapes: dict[str, tuple[int | None, ...]]
    arena_bytes: int | None


class Times(NamedTuple):
    """Times of a layer or of whole runs, in seconds."""

    runs: int
    total: float
    min: float
    max: float
    last: float


def times(numbers: tuple[int, int, int, int, int]) -> Times:
    """Returns the times of nanoseconds."""
    return Times(numbers[0], *(number * 1e-9 for number in numbers[1:]))


def specs(rows: Sequence[tuple[str, str, tuple[int | str | None, ...]]],
          ranges: Sequence[Sequence[tuple[int, int, int, int, int, int]]] = ()) -> tuple[TensorSpec, ...]:
    """Returns the tensors of rows of the extension module. `ranges` has those of each shape profile."""
    profiles = [{(r[0], r[1]): SizeRange(r[2], None if r[3] < 0 else r[3], None if r[4] >= MAX_SIZE else r[4], r[5])
                 for r in profile} for profile in ranges]

    def of_input(index: int) -> tuple[Mapping[int, SizeRange], ...]:
        return tuple({dim: r for (i, dim), r in profile.items() if i == index} for profile in profiles)

    return tuple(TensorSpec(*row, of_input(i)) for i, row in enumerate(rows))
