# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as the compiler reads them: a file, or bytes in memory."""
from __future__ import annotations

import fcntl
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import ingot
from ingot import _check

# The paths of open files of a process.
_OWN_FILES = ("/proc/self/fd/", "/dev/fd/", "/dev/stdin")
_SEALS = 0x000F  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE
_ADD_SEALS = 1033  # F_ADD_SEALS
# The entry of a tensor that names its external file: key "location", then the value with a length of one or two bytes.
_LOCATION = re.compile(rb"\x0a\x08location\x12(?:([\x00-\x7f])|([\x80-\xff])([\x01-\x7f]))", re.S)


def read(model: Any, args: Any = None) -> str | bytes:
    """Returns the path of an ONNX model, or the bytes of one.

    model: a path, the bytes of a model, an onnx.ModelProto, a torch.nn.Module or torch.export.ExportedProgram, or an
    estimator or pipeline of scikit-learn. A module needs `args`, examples of its inputs; an estimator some rows.

    Raises ingot.InvalidType for another object, ingot.NotFound for a missing file, ingot.Unsupported if a package is
    missing that converts the model.
    """
    if isinstance(model, (str, os.PathLike)):
        path = _check.path("model", model)
        if not os.path.exists(path):
            raise ingot.NotFound(f"cannot open model file '{path}': it does not exist")
        if os.path.isdir(path):
            raise ingot.InvalidArgument(f"cannot read model file '{path}': it is a folder; pass the path of a file in it")
        return _read_own(path) if path.startswith(_OWN_FILES) else path
    if isinstance(model, (bytes, bytearray, memoryview)):
        try:
            return bytes(model)
        except ValueError as error:  # a view that is released
            raise ingot.InvalidArgument(f"expected the bytes of an ONNX model: {error}") from None
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "torch" in packages:
        return _from_torch(model, args)
    if "sklearn" in packages:
        return _from_sklearn(model, args)
    serialize = getattr(model, "SerializeToString", None)
    if serialize is not None and hasattr(model, "graph"):
        try:
            return bytes(serialize())
        except Exception as error:  # protobuf's own class, e.g. for more than 2 GiB
            raise ingot.InvalidArgument(f"the ModelProto cannot be written: {error}; save it with external data, and pass "
                                        "its path") from error
    raise ingot.InvalidType("expected the path or bytes of an ONNX model, an onnx.ModelProto, a torch.nn.Module or an "
                            f"estimator of scikit-learn, but got {type(model).__qualname__}")


def _read_own(path: str) -> bytes:
    """Returns the content of an open file of this process, which the compiler does not inherit."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ingot.NotFound(f"cannot open model file '{path}': {error.strerror}") from error


def _from_torch(model: Any, args: Any) -> bytes:
    import torch  # type: ignore[import-not-found,unused-ignore]
    if isinstance(model, torch.nn.Module):
        if args is None:
            raise ingot.InvalidArgument("a torch.nn.Module needs args=, a tuple of examples of its inputs")
        model = model.eval() if model.training else model
    elif not isinstance(model, torch.export.ExportedProgram):
        raise ingot.InvalidType(f"expected a torch.nn.Module or ExportedProgram, but got {type(model).__qualname__}")
    values = args if isinstance(args, tuple) else () if args is None else (args,)
    try:
        program = torch.onnx.export(model, values, dynamo=True, verbose=False)
    except ImportError as error:
        raise ingot.Unsupported(f"the export of a torch model needs a package: {error}") from error
    return bytes(program.model_proto.SerializeToString())


def _from_sklearn(model: Any, args: Any) -> bytes:
    if args is None:
        raise ingot.InvalidArgument("an estimator of scikit-learn needs args=, some rows of its input")
    try:
        import skl2onnx  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise ingot.Unsupported("the conversion of an estimator needs the package skl2onnx") from error
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    converted = cast(Any, skl2onnx.to_onnx(model, args, options=options))
    return bytes(converted.SerializeToString())


@contextmanager
def as_file(model: str | bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Gives the path of a model, and the descriptors that the compiler must inherit.

    Bytes go through a sealed file in memory, so that nothing is written to a disk.
    """
    if isinstance(model, str):
        yield model, ()
        return
    made = os.memfd_create("model.onnx", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        # The compiler's standard streams have the first three numbers, which are free in a program without streams.
        descriptor = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(made)
    try:
        with io.FileIO(descriptor, "w", closefd=False) as file:
            view = memoryview(model)
            while len(view):
                view = view[file.write(view):]
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
        yield f"/proc/self/fd/{descriptor}", (descriptor,)
    finally:
        os.close(descriptor)


def external_files(content: bytes, folder: str) -> list[str]:
    """Returns the paths of the files that hold tensors of a model."""
    names = set()
    for match in _LOCATION.finditer(content):
        one, low, high = match.groups()
        length = one[0] if one is not None else (low[0] & 0x7F) | high[0] << 7
        names.add(content[match.end():match.end() + length])
    return [os.path.join(folder, os.fsdecode(name)) for name in sorted(names)]
