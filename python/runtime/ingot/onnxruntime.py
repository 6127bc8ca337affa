# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of ONNX Runtime's Python interface that most programs use.

    from ingot.onnxruntime import InferenceSession

An ONNX model is compiled into the cache of `ingot.compile`; a compiled model is loaded. Everything else of ONNX Runtime's
interface raises NotImplementedError with its name. Nothing is ignored in silence except hints about speed.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _check
from ._errors import InvalidArgument, InvalidType, Unsupported
from ._descriptions import TensorSpec
from ._model import Array, Model, load
from ._threads import executor

_TYPES = {"float32": "float", "float64": "double", "float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz",
          "float8_e5m2": "float8e5m2", "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0fnu": "float8e8m0",
          "float4_e2m1fn": "float4e2m1"}
_PROVIDER = "CPUExecutionProvider"
# The start of the session config entries that are options of the compiler.
_ENTRY = "ingot."


class NotImplementedByIngot(Unsupported, AttributeError):
    """A part of ONNX Runtime's interface that Ingot does not have."""


def _missing(name: str) -> NotImplementedByIngot:
    return NotImplementedByIngot(f"ingot.onnxruntime does not have {name}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise _missing(name)


class GraphOptimizationLevel:
    """Levels of ONNX Runtime. The compiler always optimizes."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode:
    """Orders of nodes. A compiled model has a fixed order."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


# Options that only concern the speed, logs or memory of ONNX Runtime, and their defaults.
_HINTS = {"inter_op_num_threads": 0, "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
          "execution_mode": ExecutionMode.ORT_SEQUENTIAL, "log_severity_level": 2, "log_verbosity_level": 0, "logid": "",
          "enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_mem_reuse": True,
          "use_deterministic_compute": False}


class SessionOptions:
    """Options of a session. `intra_op_num_threads` limits the threads of a run; 0: one for each CPU of the process.

    Hints about the speed, logs and memory of ONNX Runtime may be set and have no effect.
    """

    intra_op_num_threads: int

    def __init__(self) -> None:
        self.__dict__.update(_HINTS, intra_op_num_threads=0, _entries={})

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an option of `ingot.compile`: the entry "ingot.shape" sets `shape`, e.g. to "x=1x3x224x224".

        A semicolon separates several values of an option. ONNX Runtime ignores such entries.
        """
        _check.text("key", key)
        _check.text("value", value)
        if not key.startswith(_ENTRY):
            raise _missing(f"the session config entry '{key}'")
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns the value of an entry."""
        if key not in self._entries:
            raise InvalidArgument(f"no session config entry '{key}' was added")
        return str(self._entries[key])

    def _compile_options(self) -> dict[str, Any]:
        return {key[len(_ENTRY):]: value.split(";") if ";" in value else value for key, value in self._entries.items()}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise _missing("SessionOptions." + name)
        if name == "intra_op_num_threads":
            value = _check.whole(name, value, 1024)
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing("SessionOptions." + name)


@dataclass(frozen=True)
class NodeArg:
    """An input or output: the name, a type as "tensor(float)", and sizes. An open size is its name, or None."""

    name: str
    type: str
    shape: list[int | str | None]


@dataclass(frozen=True)
class ModelMetadata:
    """Metadata of a model. Ingot keeps the graph's name and the custom entries."""

    graph_name: str
    custom_metadata_map: dict[str, str] = field(default_factory=dict)


def _arg(spec: TensorSpec) -> NodeArg:
    return NodeArg(spec.name, f"tensor({_TYPES.get(spec.dtype, spec.dtype)})", list(spec.shape))


def _input(value: Any) -> Any:
    """Returns an array that can be used in place; ONNX Runtime copies other arrays and lists."""
    if isinstance(value, OrtValue):
        value = value.numpy()
    if isinstance(value, (list, tuple, np.generic)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous and value.flags.aligned):
        # Scalars keep their rank.
        value = np.ascontiguousarray(value).reshape(value.shape)
    return value


class OrtValue:
    """A tensor in host memory."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: Array, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """Returns a value that holds the array itself."""
        _check_device(device_type)
        if not isinstance(array, np.ndarray):
            raise InvalidType(f"OrtValue: expected a numpy array, but got {_check.type_of(array)}")
        return OrtValue(array)

    def numpy(self) -> Array:
        """Returns the array, without a copy."""
        return self._array

    def shape(self) -> list[int]:
        """Returns the sizes."""
        return list(self._array.shape)

    def device_name(self) -> str:
        """Returns "cpu"."""
        return "cpu"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing("OrtValue." + name)


def _array_of(value: OrtValue) -> Array:
    if not isinstance(value, OrtValue):
        raise InvalidType(f"ortvalue: expected an OrtValue, but got {_check.type_of(value)}")
    return value.numpy()


def _check_device(device_type: str) -> None:
    if device_type != "cpu":
        raise _missing(f"the device '{device_type}'")


class IOBinding:
    """Inputs and outputs that are bound to a session before `run_with_iobinding`."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Array | None] = {}
        self._results: list[Array] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Array) -> None:
        """Binds an input to an array."""
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to a value."""
        self._inputs[name] = _array_of(ortvalue)

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Any = None, buffer_ptr: int | None = None) -> None:
        """Asks for an output in a new array."""
        _check_device(device_type)
        if buffer_ptr is not None:
            raise _missing("IOBinding.bind_output with buffer_ptr; use bind_ortvalue_output")
        self._outputs[name] = None

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to the array of a value, which a run writes in place."""
        self._outputs[name] = _array_of(ortvalue)

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._outputs.clear()

    def get_outputs(self) -> list[OrtValue]:
        """Returns the outputs of the last run, in the order in which they were bound."""
        return [OrtValue(result) for result in self._results]

    def copy_outputs_to_cpu(self) -> list[Array]:
        """Returns the outputs of the last run."""
        return list(self._results)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing("IOBinding." + name)


class InferenceSession:
    """A model that runs. Takes the path or the bytes of an ONNX model, or of a model that Ingot has compiled."""

    def __init__(self, path_or_bytes: str | os.PathLike[str] | bytes, sess_options: SessionOptions | None = None,
                 providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None) -> None:
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise InvalidType(f"sess_options: expected a SessionOptions, but got {_check.type_of(sess_options)}")
        if isinstance(providers, str) or not isinstance(providers, (Sequence, type(None))):
            raise InvalidType(f"providers: expected a list of names, but got {_check.type_of(providers)}")
        for provider in providers or ():
            name = str(provider[0] if isinstance(provider, tuple) and provider else provider)
            if name != _PROVIDER:
                raise _missing(name)
        if provider_options and any(provider_options):
            raise _missing("provider_options")
        self._options = sess_options or SessionOptions()
        self._model = _load(path_or_bytes, self._options._compile_options())
        self._input_names = frozenset(spec.name for spec in self._model.inputs)
        self._names = [spec.name for spec in self._model.outputs]

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs in order."""
        return [_arg(spec) for spec in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """Returns the outputs in order."""
        return [_arg(spec) for spec in self._model.outputs]

    def get_modelmeta(self) -> ModelMetadata:
        """Returns the metadata of the model."""
        custom = {key: value for key, value in self._model.metadata.items() if not key.startswith("ingot.")}
        return ModelMetadata(self._model.info.name, custom)

    def get_providers(self) -> list[str]:
        """Returns ["CPUExecutionProvider"]."""
        return [_PROVIDER]

    def get_session_options(self) -> SessionOptions:
        """Returns the options of the session."""
        return self._options

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: Any = None) -> list[Array]:
        """Runs the model and returns the outputs that are named; None or an empty list names all."""
        if run_options is not None:
            raise _missing("run_options")
        names = self._check(output_names)
        results = self._run(input_feed, None)
        return [results[name] for name in names]

    def run_async(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
                  callback: Callable[[Any, Any, str], object], user_data: Any = None, run_options: Any = None) -> None:
        """Runs the model on another thread, which then calls callback(results, user_data, error)."""
        if run_options is not None:
            raise _missing("run_options")
        names = self._check(output_names)
        _check.function("callback", callback)

        def work() -> None:
            try:
                results = self._run(input_feed, None)
            except Exception as error:
                callback([], user_data, str(error))
            else:
                callback([results[name] for name in names], user_data, "")

        executor().submit(work)

    def io_binding(self) -> IOBinding:
        """Returns an empty binding."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs the model with the arrays of a binding."""
        if run_options is not None:
            raise _missing("run_options")
        names = self._check(list(iobinding._outputs))
        out = {name: array for name, array in iobinding._outputs.items() if array is not None}
        results = self._run(iobinding._inputs, out)
        iobinding._results = [results[name] for name in names]

    def _check(self, names: Sequence[str] | None) -> Sequence[str]:
        if isinstance(names, str) or not isinstance(names, (Sequence, type(None))):
            raise InvalidType(f"output_names: expected a list of names, but got {_check.type_of(names)}")
        for name in names or ():
            if name not in self._names:
                raise InvalidArgument(f"expected the outputs {', '.join(map(repr, self._names))}, but got {name!r}")
        return names or self._names

    def _run(self, feed: Mapping[str, Any], out: Mapping[str, Any] | None) -> dict[str, Array]:
        if not isinstance(feed, Mapping):
            raise InvalidType(f"input_feed: expected a mapping from names of inputs to arrays, but got "
                              f"{_check.type_of(feed)}")
        arrays = {name: _input(value) for name, value in self._spread(feed)}
        return self._model.run(arrays, out=out, threads=self._options.intra_op_num_threads or None)

    def _spread(self, feed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yields the inputs of the compiled model. It takes the elements of a sequence as `x.0`, `x.1`, ..., and has no
        input for an optional that is absent."""
        for name, value in feed.items():
            if name in self._input_names or not isinstance(value, (list, tuple, type(None))):
                yield name, value
            elif value is not None:
                yield from ((f"{name}.{i}", element) for i, element in enumerate(value))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise _missing("InferenceSession." + name)


def _load(source: str | os.PathLike[str] | bytes, options: Mapping[str, Any]) -> Model:
    """Loads a compiled model, or compiles an ONNX model into the cache."""
    start = b""
    if isinstance(source, bytes):
        start = source[:4]
    elif isinstance(source, (str, os.PathLike)) and os.path.isfile(source):
        with open(source, "rb") as file:
            start = file.read(4)
    if start == b"\x7fELF":
        if options:
            raise InvalidArgument(f"the model is compiled already, so '{_ENTRY}{next(iter(options))}' has no effect; "
                                  "pass the ONNX model")
        return load(source)
    import ingot
    model: Model = ingot.compile(source, **options)
    return model


def get_available_providers() -> list[str]:
    """Returns ["CPUExecutionProvider"]."""
    return [_PROVIDER]


def get_device() -> str:
    """Returns "CPU"."""
    return "CPU"
