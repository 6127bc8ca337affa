# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and their runs."""
from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NoReturn, TYPE_CHECKING

import numpy as np

from . import _arrays, _check, _core
from ._descriptions import Inferred, Layer, MAX_SIZE, ModelInfo, specs, TensorSpec, Times, times
from ._errors import BadArtifact, Cancelled, InvalidArgument, InvalidType, NotFound, Timeout
from ._pool import Pool

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from ._threads import Gate

Array = np.ndarray[Any, Any]


def _sizes(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the sizes of a shape. Numbers of other packages, e.g. of numpy, are sizes, too."""
    what = f"a size of input '{name}'"
    try:
        return tuple([_check.whole(what, size, MAX_SIZE) for size in shape])
    except TypeError:
        raise InvalidType(f"input '{name}': expected a tuple of ints as shape, but got {shape!r}") from None


def _check_model(model: object) -> None:
    if not isinstance(model, Model):
        raise InvalidType(f"model: expected an ingot.Model, but got {_check.type_of(model)}")


def _refuse_names(names: Mapping[str, Any]) -> NoReturn:
    """Raises the error of a call that has arrays by name."""
    raise InvalidType(f"a call takes arrays in order, but got {', '.join(map(repr, names))} by name; pass "
                      "model.run({name: array})")


class Profile(_core.Profile):
    """Times of the layers of a model: `model.run(..., profile=profile)` adds those of a run."""

    _model: Model

    def __init__(self, model: Model) -> None:
        _check_model(model)
        super().__init__(model)
        self.__dict__["_model"] = model

    __setattr__ = _check.refuse_set
    __delattr__ = _check.refuse_delete

    @property
    def run(self) -> Times:
        """Times of whole runs."""
        return times(self._run())

    @property
    def layers(self) -> tuple[tuple[Layer, Times], ...]:
        """Each layer of the model and its times."""
        return tuple((layer, times(self._layer(i))) for i, layer in enumerate(self._model.layers))


def _read_source(source: object) -> tuple[str | None, bytes | bytearray | memoryview | None]:
    """Returns the path of a model, or its bytes."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.abspath(_check.path("source", source)), None
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise InvalidType(f"expected the path or the bytes of a model, but got {_check.type_of(source)}")
    if isinstance(source, memoryview):
        try:
            is_dense = source.c_contiguous
        except ValueError as error:
            raise InvalidArgument(f"expected the bytes of a model: {error}") from None
        if not is_dense:
            raise InvalidArgument("expected dense bytes of a model, but got a view with strides; pass bytes(view)")
    return None, source


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
    #: The absolute path of the file; None if the model came from memory.
    path: str | None
    _file: tuple[int, ...] | None
    _options: dict[str, Any]
    _input_names: tuple[str, ...]
    _output_names: tuple[str, ...]

    def __init__(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, verify: bool = False,
                 trust_weights: bool = False, weights: str | os.PathLike[str] | None = None,
                 max_level: str | None = None, device: str | None = None) -> None:
        path, content = _read_source(source)
        file = None if path is None else _identity(path)
        flags = ((_core.VERIFY if _check.flag("verify", verify) else 0) |
                 (_core.TRUST_WEIGHTS if _check.flag("trust_weights", trust_weights) else 0))
        beside = None if weights is None else os.path.abspath(_check.path("weights", weights))
        for name, value in (("max_level", max_level), ("device", device)):
            if value is not None:
                _check.text(name, value)
        super().__init__(None if path is None else os.fsencode(path), content, flags,
                         None if beside is None else os.fsencode(beside), max_level, device)
        inputs, outputs = specs(self._inputs(), self._ranges()), specs(self._outputs())
        self.__dict__.update(
            path=path, _file=file, inputs=inputs, outputs=outputs, _input_names=tuple(spec.name for spec in inputs),
            _output_names=tuple(spec.name for spec in outputs),
            _options={"trust_weights": trust_weights, "weights": beside, "max_level": max_level, "device": device})

    __setattr__ = _check.refuse_set
    __delattr__ = _check.refuse_delete

    # Descriptions ------------------------------------------------------------

    @cached_property
    def info(self) -> ModelInfo:
        """Properties of the model."""
        values = self._describe()
        uses = values.pop("uses")
        values.pop("takes_general")
        return ModelInfo(variants=self._variants(), libraries=tuple(name for is_library, name in uses if is_library),
                         precisions=tuple(name for is_library, name in uses if not is_library), **values)

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of the ONNX model, and entries of the compiler, as a new dict."""
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
                        out: Mapping[str, Any] | None = None, timeout: float | None = None,
                        threads: int | None = None, **names: Any) -> Any:
        """Runs the model on another thread, so that the event loop is free.

        With `arrays`, takes and returns what a call of the model does. With `inputs`, takes and returns what `run`
        does. Inputs stay alive until the run has ended. If the task is cancelled, the run ends after its current layer.
        """
        import asyncio

        from ._threads import gate, running
        if names:
            raise InvalidType(f"run_async: expected arrays in order or inputs=, but got {', '.join(map(repr, names))} by "
                              "name; pass inputs={name: array}")
        if inputs is not None:
            if arrays:
                raise InvalidArgument("expected arrays in order or inputs=, but got both")
            arrays = self._take_inputs(inputs)
        loop = asyncio.get_running_loop()
        places = gate(loop)
        turn = places.enter(loop)
        if turn is not None:
            await places.wait(turn)
        cancellation = _core.Cancellation()
        running.add(cancellation)
        try:
            values = await self._start(loop, places, arrays, (out, timeout, threads), cancellation)
        except (asyncio.CancelledError, GeneratorExit):
            # A coroutine that is dropped gets GeneratorExit.
            cancellation.request()
            raise
        finally:
            running.discard(cancellation)
            places.leave()
        return self._name_outputs(values) if inputs is None else dict(zip(self._output_names, values))

    async def _start(self, loop: AbstractEventLoop, places: Gate, arrays: tuple[Any, ...],
                     settings: tuple[Mapping[str, Any] | None, float | None, int | None],
                     cancellation: _core.Cancellation) -> tuple[Any, ...]:
        """Starts a run on another thread and waits for it. `settings` are out, timeout and threads."""
        out, timeout, threads = settings
        if not self._is_plain or not places.can_run():
            return await self._convert_elsewhere(loop, arrays, settings, cancellation)
        receivers, most = self._receivers(out), 0 if threads is None else _check.threads(threads)
        if timeout is None:
            return await places.run(self, arrays, receivers, most, cancellation)
        from ._timeouts import Deadline
        deadline = Deadline(timeout)
        with deadline.of(cancellation):
            try:
                return await places.run(self, arrays, receivers, most, cancellation)
            except Cancelled as error:
                if deadline.has_passed():
                    raise Timeout(f"the run took longer than {timeout} s") from error
                raise

    async def _convert_elsewhere(self, loop: AbstractEventLoop, arrays: tuple[Any, ...],
                                 settings: tuple[Mapping[str, Any] | None, float | None, int | None],
                                 cancellation: _core.Cancellation) -> tuple[Any, ...]:
        """Runs on a thread of Python, which also converts arrays."""
        from ._threads import executor
        return await loop.run_in_executor(executor(), lambda: self._run_ordered(arrays, *settings, None, None, cancellation))

    @contextmanager
    def context(self, *, threads: int = 0, pool: Pool | None = None) -> Iterator[Context]:
        """Gives a context of its own for a `with` block: memory and threads of one run at a time."""
        context = Context(self, threads=threads, pool=pool)
        try:
            yield context
        finally:
            context.close()

    def _run_named(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None, timeout: float | None,
                   threads: int | None, profile: Profile | None, context: _core.Context | None,
                   cancellation: _core.Cancellation | None) -> dict[str, Array]:
        arrays = self._take_inputs(inputs)
        values = self._run_ordered(arrays, out, timeout, threads, profile, context, cancellation)
        return dict(zip(self._output_names, values))

    def _take_inputs(self, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Returns the arrays of a mapping in the order of the inputs."""
        names = self._input_names
        try:
            arrays = tuple([inputs[name] for name in names])
        except (KeyError, TypeError, IndexError):
            self._raise_names(inputs)
        if len(inputs) != len(names):
            self._raise_names(inputs)
        return arrays

    def _receivers(self, out: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
        """Returns the arrays of `out=` in the order of the outputs."""
        if out is None:
            return None
        self._check_names("output", out, self._output_names)
        return tuple([out.get(name) for name in self._output_names])

    def _run_ordered(self, arrays: tuple[Any, ...], out: Mapping[str, Any] | None, timeout: float | None,
                     threads: int | None, profile: Profile | None, context: _core.Context | None,
                     cancellation: _core.Cancellation | None) -> tuple[Any, ...]:
        most = 0 if threads is None else _check.threads(threads)
        if profile is not None and not isinstance(profile, Profile):
            raise InvalidType(f"profile: expected an ingot.Profile, but got {_check.type_of(profile)}")
        receivers = self._receivers(out)
        if timeout is None:
            return self._convert_and_run(arrays, receivers, most, context, cancellation, profile)
        from ._timeouts import Deadline
        deadline = Deadline(timeout)
        while True:
            used = cancellation or _core.Cancellation()
            with deadline.of(used):
                try:
                    return self._convert_and_run(arrays, receivers, most, context, used, profile)
                except Cancelled as error:
                    if deadline.has_passed():
                        raise Timeout(f"the run took longer than {timeout} s") from error
                    if cancellation is not None:
                        raise
            # A handler of the program has dealt with the signal that ended the run.

    def _convert_and_run(self, arrays: tuple[Any, ...], receivers: tuple[Any, ...] | None, threads: int,
                         context: _core.Context | None, cancellation: _core.Cancellation | None,
                         profile: Profile | None) -> tuple[Any, ...]:
        if self._is_plain:
            return self._run(arrays, receivers, False, threads, context, cancellation, profile)
        self._check_count(arrays)
        raw = tuple(_arrays.to_raw(spec, array) for spec, array in zip(self.inputs, arrays))
        if receivers is None:
            results = self._run(raw, None, True, threads, context, cancellation, profile)
            return tuple(_arrays.from_raw(spec, item) for spec, item in zip(self.outputs, results))
        raw_receivers = tuple(None if array is None else _arrays.receiver_to_raw(spec, array)
                              for spec, array in zip(self.outputs, receivers))
        results = self._run(raw, raw_receivers, True, threads, context, cancellation, profile)
        return tuple(_arrays.receive(spec, item, array) for spec, item, array in zip(self.outputs, results, receivers))

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

    @staticmethod
    def _raise_call(names: Mapping[str, Any]) -> NoReturn:
        """Raises the error of a call that has keywords."""
        _refuse_names(names)

    @staticmethod
    def _raise_run(arguments: tuple[Any, ...], names: Mapping[str, Any]) -> NoReturn:
        """Raises the error of a call of `run` whose arguments do not fit."""
        known = ("inputs", "out", "timeout", "threads", "profile")
        for name in names:
            if name not in known:
                raise InvalidType(f"run: no option '{name}'; the options are {', '.join(known[1:])}, and the inputs are a "
                                  "mapping from names to arrays")
        raise InvalidType(f"run: expected one mapping from names of inputs to arrays, but got {len(arguments)} arguments "
                          "in order; model(x, ...) takes arrays in order")

    def _raise_names(self, inputs: Any) -> NoReturn:
        if not isinstance(inputs, Mapping):
            raise InvalidType(f"expected a mapping from names of inputs to arrays, but got {_check.type_of(inputs)}")
        self._check_names("input", inputs, self._input_names)
        missing = [name for name in self._input_names if name not in inputs]
        raise InvalidArgument(f"input '{missing[0]}': expected an array, but got none")

    @staticmethod
    def _check_names(role: str, given: Mapping[str, Any], names: tuple[str, ...]) -> None:
        if not isinstance(given, Mapping):
            raise InvalidType(f"expected a mapping from names of {role}s, but got {_check.type_of(given)}")
        for name in given:
            if name not in names:
                raise InvalidArgument(f"expected the {role}s {', '.join(map(repr, names))}, but got {name!r}")

    # Pickles -----------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal digits.

        Raises InvalidArgument for a model from memory, BadArtifact if the file was replaced since the load.
        """
        if self.path is None:
            raise InvalidArgument("a model from memory has no file; load it from a path to pickle it")
        digest = _hash_file(self.path)
        self._check_file()
        return digest

    def _check_file(self) -> None:
        """Raises BadArtifact if the file is not the one that was loaded."""
        if self.path is not None and _identity(self.path) != self._file:
            raise BadArtifact(f"'{self.path}' is not the file that was loaded, because it was replaced or removed; load it "
                              "again")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.path, self.sha256, self._options)


class Context:
    """Memory and threads for one run at a time. Another thread that runs it meanwhile gets `ingot.Busy`."""

    __slots__ = ("_model", "_pool", "_native", "__weakref__")

    _model: Model
    _native: _core.Context | None

    def __init__(self, model: Model, *, threads: int = 0, pool: Pool | None = None) -> None:
        _check_model(model)
        if pool is not None and not isinstance(pool, Pool):
            raise InvalidType(f"pool: expected an ingot.Pool, but got {_check.type_of(pool)}")
        native = _core.Context(model, _check.threads(threads), pool)
        for name, value in (("_model", model), ("_pool", pool), ("_native", native)):
            object.__setattr__(self, name, value)

    __setattr__ = _check.refuse_set
    __delattr__ = _check.refuse_delete

    @property
    def threads(self) -> int:
        """The most threads that a run uses."""
        return self._open().threads

    def trim(self) -> None:
        """Gives memory back that is kept for later runs."""
        self._open().trim()

    def close(self) -> None:
        """Releases the context. A later run raises InvalidArgument."""
        object.__setattr__(self, "_native", None)

    def __call__(self, *arrays: Any, **names: Any) -> Any:
        """Runs the model as `Model.__call__` does."""
        if names:
            _refuse_names(names)
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


def _identity(path: str) -> tuple[int, ...] | None:
    """Returns numbers that another file at this path does not have; None if there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _hash_file(path: str) -> str:
    import hashlib
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise NotFound(f"cannot open model file '{path}': {error.strerror}") from error
    return digest.hexdigest()


def _restore(path: str, sha256: str, options: dict[str, Any]) -> Model:
    """Loads a pickled model. Raises BadArtifact if the file has another content now."""
    model = Model(path, **options)
    if model.sha256 != sha256:
        raise BadArtifact(f"{path}: expected a file with SHA-256 {sha256}, but got {model.sha256}")
    return model
