# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models, their descriptions and their runs."""
from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import index
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import _arrays, _core
from ._core import Pool
from ._errors import BadArtifact, Cancelled, InvalidArgument, InvalidType, Timeout

Array = np.ndarray[Any, Any]


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


def _times(numbers: tuple[int, int, int, int, int]) -> Times:
    return Times(numbers[0], *(number * 1e-9 for number in numbers[1:]))


def _check_threads(threads: object) -> None:
    if not isinstance(threads, int):
        raise InvalidType(f"threads: expected an int, but got {type(threads).__qualname__}")
    if not 0 <= threads <= 1024:
        raise InvalidArgument(f"threads: expected 0 to 1024, but got {threads}")


def _sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the sizes of a shape. Numbers of other packages, e.g. of numpy, are sizes, too."""
    try:
        return tuple([index(size) for size in shape])
    except TypeError:
        raise InvalidType(f"input '{name}': expected a tuple of ints as shape, but got {shape!r}") from None


class Profile(_core.Profile):
    """Times of the layers of a model: `model.run(..., profile=profile)` adds those of a run."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._model = model

    @property
    def run(self) -> Times:
        """Times of whole runs."""
        return _times(self._run())

    @property
    def layers(self) -> tuple[tuple[Layer, Times], ...]:
        """Each layer of the model and its times."""
        return tuple((layer, _times(self._layer(i))) for i, layer in enumerate(self._model.layers))


def _specs(rows: Sequence[tuple[str, str, tuple[int | str | None, ...]]],
           profiles: Sequence[Mapping[tuple[int, int], SizeRange]] = ()) -> tuple[TensorSpec, ...]:
    def of_input(index: int) -> tuple[Mapping[int, SizeRange], ...]:
        return tuple({dim: r for (i, dim), r in profile.items() if i == index} for profile in profiles)

    return tuple(TensorSpec(*row, of_input(i)) for i, row in enumerate(rows))


class Model(_core.Model):
    """A compiled model in memory. Immutable and thread-safe: any number of threads may run it at a time.

    Use `ingot.load` to make one. A call takes the inputs in the order of `inputs` and returns the output, or a named
    tuple if there are several:

        y = model(x)

    Inputs are arrays: any object with the buffer protocol or `__dlpack__` whose elements are dense and in row-major
    order. They are used in place and only read. Each output is a new numpy array.
    """

    #: The inputs in order.
    inputs: tuple[TensorSpec, ...]
    #: The outputs in order.
    outputs: tuple[TensorSpec, ...]

    def __init__(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, verify: bool = False,
                 trust_weights: bool = False, weights: str | os.PathLike[str] | None = None,
                 max_level: str | None = None, device: str | None = None) -> None:
        content: bytes | bytearray | memoryview | None = None
        path: str | None = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            content = source
        elif isinstance(source, (str, os.PathLike)):
            path = os.path.abspath(os.fspath(source))
        else:
            raise InvalidType(f"expected the path or the bytes of a model, but got {type(source).__qualname__}")
        flags = (_core.VERIFY if verify else 0) | (_core.TRUST_WEIGHTS if trust_weights else 0)
        super().__init__(path, content, flags, None if weights is None else os.fspath(weights), max_level, device)
        #: The absolute path of the file; None if the model came from memory.
        self.path = path
        self._options: dict[str, Any] = {
            "trust_weights": trust_weights, "weights": None if weights is None else os.path.abspath(os.fspath(weights)),
            "max_level": max_level, "device": device,
        }
        profiles = [{(r[0], r[1]): SizeRange(r[2], None if r[3] < 0 else r[3], None if r[4] >= 2**63 - 1 else r[4], r[5])
                     for r in ranges} for ranges in self._ranges()]
        self.inputs = _specs(self._inputs(), profiles)
        self.outputs = _specs(self._outputs())
        self._input_names = tuple(spec.name for spec in self.inputs)
        self._output_names = tuple(spec.name for spec in self.outputs)

    # Descriptions ------------------------------------------------------------

    @cached_property
    def info(self) -> ModelInfo:
        """Properties of the model."""
        values = self._describe()
        uses = values.pop("uses")
        values.pop("takes_general")
        return ModelInfo(variants=self._variants(), libraries=tuple(name for is_library, name in uses if is_library),
                         precisions=tuple(name for is_library, name in uses if not is_library), **values)

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of the ONNX model, and entries of the compiler."""
        return self._metadata()

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in the order of a run; empty if the model was compiled without."""
        return tuple(Layer(*row) for row in self._layers())

    def infer(self, shapes: Mapping[str, Sequence[int]]) -> Inferred:
        """Computes the sizes of outputs, and the bytes of a context, for sizes of inputs. Runs nothing.

        An input that the model fixes may be left out. Raises InvalidArgument if the sizes do not fit.
        """
        self._check_names("input", shapes, self._input_names)
        given = tuple(_sizes(name, shapes[name]) if name in shapes else None for name in self._input_names)
        for spec, sizes in zip(self.inputs, given):
            if sizes is None and not all(isinstance(size, int) for size in spec.shape):
                raise InvalidArgument(f"input '{spec.name}': expected sizes for shape {spec.shape}, but got none")
        outputs, arena = self._infer(given)
        return Inferred(dict(zip(self._output_names, outputs)), arena)

    def __repr__(self) -> str:
        def text(specs: tuple[TensorSpec, ...]) -> str:
            return ", ".join(f"{s.name}: {s.dtype}[{', '.join('?' if n is None else str(n) for n in s.shape)}]"
                             for s in specs)

        return f"<ingot.Model {self.info.name or self.path or ''} ({text(self.inputs)}) -> ({text(self.outputs)})>"

    # Runs --------------------------------------------------------------------

    async def run_async(self, *arrays: Any, inputs: Mapping[str, Any] | None = None,
                        out: Mapping[str, Any] | None = None, timeout: float | None = None, threads: int = 0) -> Any:
        """Runs the model on another thread, so that the event loop is free.

        With `arrays`, takes and returns what a call of the model does. With `inputs`, takes and returns what `run`
        does. Inputs stay alive until the run has ended. If the task is cancelled, the run ends after its current layer.
        """
        import asyncio

        from ._threads import executor, gate
        loop = asyncio.get_running_loop()
        places = gate(loop)
        turn = places.enter(loop)
        if turn is not None:
            await places.wait(turn)
        try:
            cancellation = _core.Cancellation()

            def work() -> Any:
                if inputs is not None:
                    if arrays:
                        raise InvalidArgument("expected arrays in order or inputs=, but got both")
                    return self._run_named(inputs, out, timeout, threads, None, None, cancellation)
                return self._name_outputs(self._run_ordered(arrays, out, timeout, threads, None, None, cancellation))

            try:
                return await loop.run_in_executor(executor(), work)
            except asyncio.CancelledError:
                cancellation.request()
                raise
        finally:
            places.leave()

    @contextmanager
    def context(self, *, threads: int = 0, pool: Pool | None = None) -> Iterator[Context]:
        """Gives a context of its own for a `with` block: memory and threads of one run at a time."""
        context = Context(self, threads=threads, pool=pool)
        try:
            yield context
        finally:
            context.close()

    def _run_named(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None, timeout: float | None, threads: int,
                   profile: Profile | None, context: _core.Context | None,
                   cancellation: _core.Cancellation | None) -> dict[str, Array]:
        names = self._input_names
        try:
            arrays = tuple([inputs[name] for name in names])
        except (KeyError, TypeError, IndexError):
            self._raise_names(inputs)
        if len(inputs) != len(names):
            self._raise_names(inputs)
        values = self._run_ordered(arrays, out, timeout, threads, profile, context, cancellation)
        return dict(zip(self._output_names, values))

    def _run_ordered(self, arrays: tuple[Any, ...], out: Mapping[str, Any] | None, timeout: float | None, threads: int,
                     profile: Profile | None, context: _core.Context | None,
                     cancellation: _core.Cancellation | None) -> tuple[Any, ...]:
        _check_threads(threads)
        if profile is not None and not isinstance(profile, Profile):
            raise InvalidType(f"profile: expected an ingot.Profile, but got {type(profile).__qualname__}")
        receivers: tuple[Any, ...] | None = None
        if out is not None:
            self._check_names("output", out, self._output_names)
            receivers = tuple([out.get(name) for name in self._output_names])
        if timeout is None:
            return self._convert_and_run(arrays, receivers, threads, context, cancellation, profile)
        from ._timeouts import Deadline
        cancellation = cancellation or _core.Cancellation()
        with Deadline(timeout, cancellation) as deadline:
            try:
                return self._convert_and_run(arrays, receivers, threads, context, cancellation, profile)
            except Cancelled as error:
                if deadline.has_passed():
                    raise Timeout(f"the run took longer than {timeout} s") from error
                raise

    def _convert_and_run(self, arrays: tuple[Any, ...], receivers: tuple[Any, ...] | None, threads: int,
                         context: _core.Context | None, cancellation: _core.Cancellation | None,
                         profile: Profile | None) -> tuple[Any, ...]:
        if self._is_plain:
            return self._run(arrays, receivers, False, threads, context, cancellation, profile)
        self._check_count(arrays)
        raw = tuple(_arrays.to_raw(spec, array) for spec, array in zip(self.inputs, arrays))
        raw_receivers: tuple[Any, ...] | None = None
        if receivers is not None:
            raw_receivers = tuple(self._raw_receiver(spec, array) for spec, array in zip(self.outputs, receivers))
        results = self._run(raw, raw_receivers, True, threads, context, cancellation, profile)
        return tuple(_arrays.from_raw(spec, item) if receivers is None or receivers[i] is None else receivers[i]
                     for i, (spec, item) in enumerate(zip(self.outputs, results)))

    @staticmethod
    def _raw_receiver(spec: TensorSpec, array: Any) -> Any:
        if array is None:
            return None
        if spec.dtype == "string" or (not _arrays.is_plain(spec.dtype) and _arrays.is_packed(spec.dtype)):
            raise InvalidArgument(f"output '{spec.name}': out= cannot receive elements of type {spec.dtype}")
        return _arrays.to_raw(spec, array, "output")

    def _call_converted(self, arrays: tuple[Any, ...]) -> Any:
        return self._name_outputs(self._convert_and_run(arrays, None, 0, None, None, None))

    @cached_property
    def _named(self) -> Any:
        # Making the class takes longer than the rest of a load, so only a model with several outputs makes it.
        return namedtuple("Outputs", self._output_names, rename=True)

    def _name_outputs(self, values: tuple[Any, ...]) -> Any:
        return values[0] if len(values) == 1 else self._named._make(values)

    def _check_count(self, arrays: tuple[Any, ...]) -> None:
        if len(arrays) != len(self.inputs):
            raise InvalidArgument(f"expected {len(self.inputs)} inputs, but got {len(arrays)}")

    def _raise_names(self, inputs: Any) -> NoReturn:
        if not isinstance(inputs, Mapping):
            raise InvalidType(f"expected a mapping from names of inputs to arrays, but got {type(inputs).__qualname__}")
        self._check_names("input", inputs, self._input_names)
        missing = [name for name in self._input_names if name not in inputs]
        raise InvalidArgument(f"input '{missing[0]}': expected an array, but got none")

    @staticmethod
    def _check_names(role: str, given: Mapping[str, Any], names: tuple[str, ...]) -> None:
        if not isinstance(given, Mapping):
            raise InvalidType(f"expected a mapping from names of {role}s, but got {type(given).__qualname__}")
        for name in given:
            if name not in names:
                raise InvalidArgument(f"expected the {role}s {', '.join(map(repr, names))}, but got {name!r}")

    # Pickles -----------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal digits. Raises InvalidArgument for a model from memory."""
        if self.path is None:
            raise InvalidArgument("a model from memory has no file; load it from a path to pickle it")
        return _hash_file(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.path, self.sha256, self._options)


class Context:
    """Memory and threads for one run at a time. Another thread that runs it meanwhile gets `ingot.Busy`."""

    def __init__(self, model: Model, *, threads: int = 0, pool: Pool | None = None) -> None:
        _check_threads(threads)
        if pool is not None and not isinstance(pool, Pool):
            raise InvalidType(f"pool: expected an ingot.Pool, but got {type(pool).__qualname__}")
        self._model = model
        self._pool = pool
        self._native: _core.Context | None = _core.Context(model, threads, pool)

    @property
    def threads(self) -> int:
        """The most threads that a run uses."""
        return self._open().threads

    def trim(self) -> None:
        """Gives memory back that is kept for later runs."""
        self._open().trim()

    def close(self) -> None:
        """Releases the context. A later run raises InvalidArgument."""
        self._native = None

    def __call__(self, *arrays: Any) -> Any:
        """Runs the model as `Model.__call__` does."""
        model = self._model
        return model._name_outputs(model._run_ordered(arrays, None, None, 0, None, self._open(), None))

    def run(self, inputs: Mapping[str, Any], *, out: Mapping[str, Any] | None = None, timeout: float | None = None,
            profile: Profile | None = None) -> dict[str, Array]:
        """Runs the model as `Model.run` does."""
        return self._model._run_named(inputs, out, timeout, 0, profile, self._open(), None)

    def _open(self) -> _core.Context:
        if self._native is None:
            raise InvalidArgument("the context is closed")
        return self._native


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, verify: bool = False,
         trust_weights: bool = False, weights: str | os.PathLike[str] | None = None, max_level: str | None = None,
         device: str | None = None) -> Model:
    """Loads a compiled model. This runs native code from the file, so load only files that you trust.

    source: the path of the file, or its bytes.
    verify: compare the weights with their checksum, which reads all of them.
    trust_weights: check only the size of separate weights, not their SHA-256.
    weights: the file of separate weights; by default the file beside the model.
    max_level: the highest CPU level whose code may run, e.g. "x86-64-v3".
    device: "cpu", "cuda" or "cuda:1"; by default a GPU if the model has code for it.

    Raises NotFound, BadArtifact, VersionMismatch, or Unsupported if this machine cannot run the model.
    """
    return Model(source, verify=verify, trust_weights=trust_weights, weights=weights, max_level=max_level,
                 device=device)


def _hash_file(path: str) -> str:
    import hashlib
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _restore(path: str, sha256: str, options: dict[str, Any]) -> Model:
    """Loads a pickled model. Raises BadArtifact if the file has another content now."""
    model = Model(path, **options)
    if model.sha256 != sha256:
        raise BadArtifact(f"{path}: expected a file with SHA-256 {sha256}, but got {model.sha256}")
    return model
