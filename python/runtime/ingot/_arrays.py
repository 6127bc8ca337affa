# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of types that numpy does not have: bfloat16, float8, types of less than a byte, and strings."""
from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from ._errors import InvalidArgument, InvalidType

if TYPE_CHECKING:
    from ._descriptions import TensorSpec

_PLAIN = ("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16", "float64", "uint32",
          "uint64")
# Bits of the types that packages beside numpy define.
_EXTENDED_BITS = {
    "bfloat16": 16, "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8, "uint4": 4, "int4": 4, "float4_e2m1fn": 4, "uint2": 2, "int2": 2, "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
}


def is_plain(name: str) -> bool:
    """Returns true if numpy itself has the type of this name."""
    return name in _PLAIN


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Returns the dtype of arrays that hold the type.

    Types of `ml_dtypes` need that package; without it, their arrays are unsigned integers that hold the bits. Arrays of
    strings have dtype object.
    """
    if name in _PLAIN:
        return np.dtype(name)
    if name == "string":
        return np.dtype(object)
    try:
        import ml_dtypes
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return dtype
    except (ImportError, AttributeError):
        return _bits_dtype(name)


def _bits_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(np.uint16 if _EXTENDED_BITS[name] == 16 else np.uint8)


def is_packed(name: str) -> bool:
    """Returns true if elements of the type of this name are smaller than a byte."""
    return _EXTENDED_BITS.get(name, 8) < 8


def why_not_an_array(value: object, writable: bool) -> str:
    """Returns the end of an error message: the remedy for an object that cannot be used in place."""
    if isinstance(value, np.ndarray):
        if writable and not value.flags.writeable:
            return ", which is read-only; pass an array that may be written"
        return f" of dtype {value.dtype}"
    if _is_capsule(value):
        return _why_no_tensor(value)
    export = getattr(value, "__dlpack__", None)
    if export is not None:
        try:
            made = export()
        except Exception as error:  # the other package's own words
            return f", which gives no memory: {error}"
        if not _is_capsule(made):
            return f", whose __dlpack__ returned {type(made).__qualname__} in place of a capsule"
        return ", which is read-only; pass an array that may be written" if writable else _why_no_tensor(made)
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        return "; pass numpy.asarray(value, dtype)"
    return ", which has neither the buffer protocol nor __dlpack__"


def _is_capsule(value: object) -> bool:
    return type(value).__name__ == "PyCapsule"


def _why_no_tensor(capsule: object) -> str:
    """Returns the remedy for a capsule without a tensor. Its name, which Python shows, tells its state."""
    if "used_dltensor" in repr(capsule):
        return ", which is used up, because a capsule serves once; pass the array, or a new array.__dlpack__()"
    return ", which holds no tensor of DLPack; pass an array"


def _fail(role: str, spec: TensorSpec, given: str) -> InvalidType:
    return InvalidType(f"{role} '{spec.name}': expected elements of type {spec.dtype}, but got {given}")


def to_raw(spec: TensorSpec, value: Any, role: str = "input") -> Any:
    """Returns what `_core.Model._run` takes for an input in a raw call."""
    if is_plain(spec.dtype):
        return value
    if spec.dtype == "string":
        return _pack_strings(spec, value, role)
    if not isinstance(value, np.ndarray):
        if is_packed(spec.dtype):
            raise InvalidType(f"{role} '{spec.name}': expected a numpy array of {spec.dtype}, but got "
                              f"{type(value).__qualname__}")
        return value  # DLPack has these types.
    expected = (numpy_dtype(spec.dtype), _bits_dtype(spec.dtype))
    if value.dtype not in expected:
        raise _fail(role, spec, str(value.dtype))
    bits = value.view(_bits_dtype(spec.dtype))
    return _pack(spec, bits, role) if is_packed(spec.dtype) else bits


def from_raw(spec: TensorSpec, item: Any) -> np.ndarray[Any, Any]:
    """Returns the array for an output of a raw call."""
    if spec.dtype == "string":
        return _unpack_strings(*item)
    if is_packed(spec.dtype):
        item = _unpack(spec, *item)
    array: np.ndarray[Any, Any] = item
    # An output in memory of a GPU is an object with __dlpack__.
    is_done = is_plain(spec.dtype) or not isinstance(item, np.ndarray)
    return array if is_done else array.view(numpy_dtype(spec.dtype))


def receiver_to_raw(spec: TensorSpec, array: Any) -> Any:
    """Returns what `_core.Model._run` takes for an array of `out=`; None if `receive` copies the output there."""
    if spec.dtype != "string" and not is_packed(spec.dtype):
        return to_raw(spec, array, "output")
    if not isinstance(array, np.ndarray):
        raise InvalidType(f"output '{spec.name}': expected a numpy array of {spec.dtype}, but got "
                          f"{type(array).__qualname__}")
    allowed = (numpy_dtype(spec.dtype), numpy_dtype("string") if spec.dtype == "string" else _bits_dtype(spec.dtype))
    if array.dtype not in allowed:
        raise _fail("output", spec, str(array.dtype))
    if not array.flags.writeable:
        raise InvalidType(f"output '{spec.name}': expected an array of {spec.dtype}, but got ndarray"
                          f"{why_not_an_array(array, True)}")
    if array.ndim != len(spec.shape) or any(isinstance(size, int) and size != given
                                            for size, given in zip(spec.shape, array.shape)):
        raise _wrong_shape(spec, spec.shape, array)
    return None


def receive(spec: TensorSpec, item: Any, array: Any) -> Any:
    """Returns the array for an output of a raw call: `array` if it is one of `out=`."""
    if array is None:
        return from_raw(spec, item)
    if spec.dtype == "string" or is_packed(spec.dtype):
        made = from_raw(spec, item)
        if made.shape != array.shape:
            raise _wrong_shape(spec, made.shape, array)
        array[...] = made if made.dtype == array.dtype else made.view(array.dtype)
    return array


def _wrong_shape(spec: TensorSpec, expected: tuple[int | str | None, ...], array: Any) -> InvalidArgument:
    sizes = ", ".join(str(size) if isinstance(size, int) else "?" for size in expected)
    text = f"({sizes},)" if len(expected) == 1 else f"({sizes})"
    return InvalidArgument(f"output '{spec.name}': expected shape {text}, but got {array.shape}")


def _pack(spec: TensorSpec, codes: np.ndarray[Any, Any], role: str) -> tuple[np.ndarray[Any, Any], tuple[int, ...]]:
    bits = _EXTENDED_BITS[spec.dtype]
    if codes.size and int(codes.max()) >= 1 << bits:
        raise InvalidArgument(f"{role} '{spec.name}': expected codes of {bits} bits, but got {int(codes.max())}")
    each = np.unpackbits(np.ascontiguousarray(codes).reshape(-1, 1), axis=1, count=bits, bitorder="little")
    return np.packbits(each.reshape(-1), bitorder="little"), codes.shape


def _unpack(spec: TensorSpec, packed: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    bits = _EXTENDED_BITS[spec.dtype]
    count = 1
    for size in shape:
        count *= size
    each = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    return np.packbits(each, axis=1, bitorder="little").reshape(shape)


def _pack_strings(spec: TensorSpec, value: Any, role: str) -> tuple[Any, Any, tuple[int, ...]]:
    array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
    if array.dtype.kind not in "OUST":
        raise _fail(role, spec, str(array.dtype))
    parts = []
    for element in array.reshape(-1).tolist():
        if isinstance(element, str):
            try:
                parts.append(element.encode("utf-8"))
            except UnicodeEncodeError as error:
                raise InvalidArgument(f"{role} '{spec.name}': expected text, but got a part of a character: "
                                      f"{error}") from error
        elif isinstance(element, bytes):
            parts.append(element)
        else:
            raise _fail(role, spec, f"an element of type {type(element).__qualname__}")
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(parts) or b"\0", np.uint8)[:offsets[-1]], array.shape


def _unpack_strings(offsets: Any, text: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    content = text.tobytes()
    ends = offsets.tolist()
    array = np.empty(len(ends) - 1, object)
    for i in range(len(ends) - 1):
        part = content[ends[i]:ends[i + 1]]
        try:
            array[i] = part.decode("utf-8")
        except UnicodeDecodeError:
            array[i] = part
    return array.reshape(shape)
