# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of `ingot` as functions."""
from __future__ import annotations

import dataclasses
import functools
import os
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, TYPE_CHECKING, TypeVar

import ingot
from ingot import _check

from . import _cache, _models, _results
from ._errors import CompileError
from ._metric import Metric, Served
from ._process import Progress, check_settings, run
from ._results import BenchResult, CalibrationResult, Comparison, CompileResult, Inspection

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import BenchOptions, CalibrateOptions, CompareOptions, CompileOptions, InspectOptions

Path = typing.Union[str, "os.PathLike[str]"]
Result = TypeVar("Result")


# Documents --------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, dict(vars(_results)))


def _convert(kind: Any, value: Any) -> Any:
    """Returns a value of JSON as the type that a dataclass states for it."""
    if value is None:
        return None
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [one for one in typing.get_args(kind) if one is not type(None)]
        return _convert(kinds[0], value) if len(kinds) == 1 else value
    if typing.get_origin(kind) is list:
        return [_convert(typing.get_args(kind)[0], one) for one in value]
    if typing.get_origin(kind) is dict:
        return {key: _convert(typing.get_args(kind)[1], one) for key, one in value.items()}
    if dataclasses.is_dataclass(kind):
        return _make(typing.cast(Any, kind), value)
    return value


def _make(kind: Callable[..., Result], document: dict[str, Any]) -> Result:
    """Makes a dataclass from a JSON object. Members that the class does not know are left out."""
    hints = _hints(typing.cast(type, kind))
    return kind(**{name: _convert(hint, document.get(name)) for name, hint in hints.items() if name in document})


def _run_judged(command: str, positional: Sequence[str], options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Runs a command whose option `metric` may be a function. Raises what the function raises."""
    metric = options.get("metric")
    if metric is not None and not callable(metric) and not isinstance(metric, (str, os.PathLike)):
        raise ingot.InvalidType(f"metric: expected a function or the name of a metric, but got {_check.type_of(metric)}")
    if not callable(metric):
        return run(command, positional, options, **more)
    with Served(typing.cast(Metric, metric)) as served:
        try:
            return run(command, positional, {**options, "metric": served.command}, **more)
        except CompileError as error:
            if served.error is not None:
                raise served.error from error
            raise


# Commands ---------------------------------------------------------------------

def compile(model: Any, output: Path | None = None, *, args: Any = None, timeout: float | None = None,
            progress: Callable[[Progress], object] | None = None,
            **options: Unpack[CompileOptions]) -> ingot.Model:
    """Compiles a model and loads the result.

    model: the path or bytes of an ONNX model, an onnx.ModelProto, a torch.nn.Module or torch.export.ExportedProgram,
        or an estimator of scikit-learn. `args` has examples of the inputs of a module, or rows for an estimator.
    output: the file to write. Without it, the result is kept in a cache, and taken from there the next time.
    timeout: seconds after which the compilation ends with ingot.Timeout.
    progress: is called with each step, e.g. `print`.
    options: those of `ingot compile`, with `_` for `-`: compile(m, precision="bf16", shape={"x": (1, 3, 224, 224)}).
        `metric` may be a function that gets outputs and labels and returns a score. Outputs are a dict of arrays by
        name. Labels are the array `labels` of the samples, or else the outputs of fp32.

    Raises CompileError if the compiler refuses the model, and ingot.InvalidArgument for wrong options. If neither the
    compilation ends nor the loading, no file is left.
    """
    check_settings(timeout, progress)
    if output is not None:
        output = _check.path("output", output)
    source = _models.read(model, args)
    if output is not None:
        compile_to(source, output, timeout=timeout, progress=progress, **options)
        return ingot.load(output)
    entry = _cache.entry(source, options)
    try:
        cached = ingot.load(entry)
        _cache.mark_used(entry)
        return cached
    except ingot.NotFound:
        pass
    except (ingot.BadArtifact, ingot.VersionMismatch):
        _cache.remove(entry)  # A damaged entry is made again.
    # A compilation that is ended leaves no file, but a folder of its own keeps even a killed one out of the entries.
    with _cache.new_folder() as folder:
        made = os.path.join(folder, "model.so")
        compile_to(source, made, timeout=timeout, progress=progress, **options)
        # Another process may remove the entry, if the cache has no room for both.
        with open(made, "rb") as file:
            _cache.add(made, entry)
            _cache.trim(entry)
            try:
                return ingot.load(entry)
            except ingot.NotFound:
                return ingot.load(file.read())


def compile_to(model: Any, output: Path, *, args: Any = None, timeout: float | None = None,
               progress: Callable[[Progress], object] | None = None,
               **options: Unpack[CompileOptions]) -> CompileResult:
    """Compiles a model into a file, as `compile`, but does not load it: for machines other than this one."""
    check_settings(timeout, progress)
    output = _check.path("output", output)
    values: dict[str, Any] = dict(options)
    values.setdefault("header", False)
    with _models.as_file(_models.read(model, args)) as (path, descriptors):
        return _make(CompileResult, _run_judged("compile", [path], values, extra=[f"--output={output}"],
                                                timeout=timeout, progress=progress, descriptors=descriptors))


def calibrate(model: Any, data: Path | Sequence[Path], output: Path, *, args: Any = None, timeout: float | None = None,
              progress: Callable[[Progress], object] | None = None,
              **options: Unpack[CalibrateOptions]) -> CalibrationResult:
    """Runs a model on samples and writes the ranges of its values, which precision="int8" needs."""
    check_settings(timeout, progress)
    output = _check.path("output", output)
    values = {"data": _existing("data", data), **options}
    with _models.as_file(_models.read(model, args)) as (path, descriptors):
        return _make(CalibrationResult, run("calibrate", [path], values, extra=[f"--output={output}"],
                                            timeout=timeout, progress=progress, descriptors=descriptors))


def _path_of(model: ingot.Model | Path) -> str:
    if isinstance(model, ingot.Model):
        if model.path is None:
            raise ingot.InvalidArgument("a model from memory has no file; load it from a path")
        model._check_file()
        return model.path
    if not isinstance(model, (str, os.PathLike)):
        raise ingot.InvalidType(f"model: expected an ingot.Model or a path, but got {_check.type_of(model)}")
    return _existing_path("model", model)


def _existing_path(name: str, path: object) -> str:
    """Returns the path of an input as text. Raises ingot.NotFound if it does not exist."""
    text = _check.path(name, path)
    if not os.path.exists(text):
        raise ingot.NotFound(f"cannot open '{text}': it does not exist")
    return text


def _existing(name: str, paths: Path | Sequence[Path] | None) -> str | list[str] | None:
    """Returns paths of inputs as text. Raises ingot.NotFound for one that does not exist."""
    if paths is None:
        return None
    if isinstance(paths, (list, tuple)):
        return [_existing_path(name, path) for path in paths]
    return _existing_path(name, paths)


def compare(model: ingot.Model | Path, onnx_model: Any, data: Path | Sequence[Path] | None = None, *, args: Any = None,
            timeout: float | None = None, progress: Callable[[Progress], object] | None = None,
            **options: Unpack[CompareOptions]) -> Comparison:
    """Compares a compiled model with its ONNX model on samples. Outputs beyond the tolerance are no error: see
    `within_tolerance`. `metric` may be a function, as for `compile`."""
    check_settings(timeout, progress)
    values = {"data": _existing("data", data), **options}
    with _models.as_file(_models.read(onnx_model, args)) as (path, descriptors):
        return _make(Comparison, _run_judged("compare", [_path_of(model), path], values, timeout=timeout,
                                             progress=progress, descriptors=descriptors, accepted=(0, 3)))


def bench(model: ingot.Model | Path, onnx_model: Path | None = None, *, timeout: float | None = None,
          progress: Callable[[Progress], object] | None = None, **options: Unpack[BenchOptions]) -> BenchResult:
    """Measures the latency, throughput and memory of a compiled model, in a process of its own."""
    check_settings(timeout, progress)
    paths = [_path_of(model)] + ([] if onnx_model is None else [_existing_path("onnx_model", onnx_model)])
    return _make(BenchResult, run("bench", paths, options, timeout=timeout, progress=progress))


def inspect(model: ingot.Model | Path, **options: Unpack[InspectOptions]) -> Inspection:
    """Describes a compiled model without running it."""
    return _make(Inspection, run("inspect", [_path_of(model)], options))
