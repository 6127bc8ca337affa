# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in Ray: a class for `map_batches` of Ray Data, and a deployment of Ray Serve.

    rows.map_batches(ingot.ray.Predictor, fn_constructor_args=["model.so"], num_cpus=1,
                     compute=ray.data.ActorPoolStrategy(size=2))

Each replica loads the model from its file, which must be on each machine at the same path. Replicas on a machine share the
memory of its weights. A run uses as many threads as Ray gives CPUs to the replica.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _check
from ._errors import InvalidArgument, InvalidType, Unsupported
from ._descriptions import TensorSpec
from ._model import Array, Model, load

Path = str | os.PathLike[str]


def _cpus() -> int:
    """Returns how many CPUs Ray gives to this process, at least 1."""
    import ray  # type: ignore[import-not-found,unused-ignore]
    if not ray.is_initialized():
        raise Unsupported("a class of ingot.ray works in an actor of Ray; call ingot.load to run a model elsewhere")
    context: Any = ray.get_runtime_context()
    given = context.get_assigned_resources()
    return max(1, int(given.get("CPU", 1)))


def _column(spec: TensorSpec, values: Any) -> Array:
    """Returns a column of rows as an array that the model takes."""
    array = np.asarray(values)
    if array.dtype == object and spec.dtype != "string":
        try:
            array = np.stack(list(array))
        except (ValueError, TypeError):
            raise InvalidArgument(f"input '{spec.name}': expected rows of one shape; make them equal before map_batches"
                                  ) from None
    return np.ascontiguousarray(array)


class Predictor:
    """Runs a model on batches of Ray Data.

    A batch has an array for each column. The columns with the names of inputs are inputs. Outputs become columns with
    their names, and the other columns stay.

    model: the path of the compiled model.
    columns: names of the columns of inputs, if they differ: {input: column}.
    keep: False to leave the columns of inputs out of the result.

    The batch of the model should be open. If it is fixed, the rows of a batch must be a multiple of it.
    """

    def __init__(self, model: Path, *, columns: Mapping[str, str] | None = None, keep: bool = True) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise InvalidType(f"columns: expected a mapping from inputs to columns, but got {_check.type_of(columns)}")
        self._keep = _check.flag("keep", keep)
        self._threads = _cpus()
        self._model = load(model)
        names = [spec.name for spec in self._model.inputs]
        for name in columns or ():
            if name not in names:
                raise InvalidArgument(f"columns: expected the inputs {', '.join(map(repr, names))}, but got {name!r}")
        self._columns = {name: (columns or {}).get(name, name) for name in names}
        sizes = {spec.shape[0] for spec in self._model.inputs if spec.shape and isinstance(spec.shape[0], int)}
        self._batch = int(sizes.pop()) if len(sizes) == 1 else 0

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the columns of a batch with those of the outputs."""
        inputs = {}
        for spec in self._model.inputs:
            column = self._columns[spec.name]
            if column not in batch:
                raise InvalidArgument(f"input '{spec.name}': expected a column '{column}', but the batch has "
                                      f"{', '.join(map(repr, batch))}")
            inputs[spec.name] = _column(spec, batch[column])
        taken = set(self._columns.values())
        result = {name: values for name, values in batch.items() if self._keep or name not in taken}
        result.update(self._run(inputs))
        return result

    def _run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        rows = len(next(iter(inputs.values())))
        if self._batch in (0, rows):
            return self._model.run(inputs, threads=self._threads)
        if rows % self._batch:
            raise InvalidArgument(f"the model takes {self._batch} rows, but the batch has {rows}; compile it with an open "
                                  "batch, or pass a multiple as batch_size to map_batches")
        parts = [self._model.run({name: array[i:i + self._batch] for name, array in inputs.items()},
                                 threads=self._threads) for i in range(0, rows, self._batch)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Server:
    """A deployment of Ray Serve that joins requests to batches.

        app = serve.deployment(ingot.ray.Server, ray_actor_options={"num_cpus": 1}).bind("model.so")

    A request has one row for each input, by name: arrays from a handle, lists in JSON over HTTP. It gets one row of each
    output. Rows of different shapes never share a batch. A wrong request fails alone.

    model: the path of the compiled model, whose batch is open.
    max_batch_size: the most requests of a batch.
    batch_wait_timeout_s: seconds for which a request waits for others.
    """

    def __init__(self, model: Path, *, max_batch_size: int = 16, batch_wait_timeout_s: float = 0.005) -> None:
        size = _check.whole("max_batch_size", max_batch_size, 2**31 - 1, least=1)
        wait = _check.seconds("batch_wait_timeout_s", batch_wait_timeout_s)
        from ray import serve  # type: ignore[import-not-found,unused-ignore]
        self._threads = _cpus()
        self._model: Model = load(model)
        for spec in self._model.inputs:
            if not spec.shape or isinstance(spec.shape[0], int):
                raise InvalidArgument(f"input '{spec.name}': expected an open batch, but got shape {spec.shape}; compile "
                                      "the model with an open first dimension")

        async def run(requests: list[dict[str, Array]]) -> list[dict[str, Array]]:
            return await self._run(requests)

        self._batched = serve.batch(max_batch_size=size, batch_wait_timeout_s=wait)(run)

    async def __call__(self, request: Any) -> dict[str, Any]:
        """Returns one row of each output by name: arrays, or lists for a request over HTTP."""
        # A request of HTTP is a mapping, too: of its scope.
        read_json = getattr(request, "json", None)
        row = self._row(request if read_json is None else await read_json())
        result: dict[str, Array] = await self._batched(row)
        return result if read_json is None else {name: value.tolist() for name, value in result.items()}

    def _row(self, request: Any) -> dict[str, Array]:
        names = {spec.name for spec in self._model.inputs}
        if not isinstance(request, Mapping) or set(request) != names:
            given = ", ".join(map(repr, request)) if isinstance(request, Mapping) else type(request).__qualname__
            raise InvalidArgument(f"expected a row for the inputs {', '.join(map(repr, sorted(names)))}, but got {given}")
        row = {}
        for spec in self._model.inputs:
            try:
                array = np.asarray(request[spec.name], spec.numpy_dtype)
            except (ValueError, TypeError, OverflowError) as error:
                raise InvalidArgument(f"input '{spec.name}': expected a row of {spec.dtype}: {error}") from error
            expected = spec.shape[1:]
            if array.ndim != len(expected) or any(isinstance(size, int) and size != given
                                                  for size, given in zip(expected, array.shape)):
                raise InvalidArgument(f"input '{spec.name}': expected a row of shape {expected}, but got {array.shape}")
            row[spec.name] = array
        return row

    async def _run(self, rows: Sequence[dict[str, Array]]) -> list[dict[str, Array]]:
        groups: dict[Any, list[int]] = {}
        for i, row in enumerate(rows):
            groups.setdefault(tuple(array.shape for array in row.values()), []).append(i)
        results: list[dict[str, Array]] = [{}] * len(rows)
        for members in groups.values():
            inputs = {name: np.stack([rows[i][name] for i in members]) for name in rows[members[0]]}
            outputs = await self._model.run_async(inputs=inputs, threads=self._threads)
            for at, i in enumerate(members):
                results[i] = {name: array[at] for name, array in outputs.items()}
        return results
