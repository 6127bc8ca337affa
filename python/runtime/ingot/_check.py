# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments. Each raises an error that says what the argument is to be, and what it is."""
from __future__ import annotations

import os
from operator import index
from typing import Any

from ._errors import InvalidArgument, InvalidType

#: The most seconds of a timeout, some 30 years. A longer one counts as this one.
MAX_SECONDS = 1e9


def shown(number: int) -> str:
    """Returns a number as text. Python refuses to print numbers of thousands of digits."""
    return str(number) if number.bit_length() <= 256 else f"a number of {number.bit_length()} bits"


def type_of(value: object) -> str:
    """Returns the name of a value's type."""
    return type(value).__qualname__


def whole(name: str, value: object, most: int, least: int = 0) -> int:
    """Returns a whole number. Numbers of other packages, e.g. of numpy, are whole numbers, too."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidType(f"{name}: expected an int, but got {type_of(value)}") from None
    if not least <= number <= most:
        raise InvalidArgument(f"{name}: expected {least} to {most}, but got {shown(number)}")
    return number


def threads(value: object) -> int:
    """Returns a number of threads; 0: one for each CPU of the process."""
    return whole("threads", value, 1024)


def seconds(name: str, value: Any) -> float:
    """Returns seconds, 0 or more."""
    if isinstance(value, (str, bytes, bytearray)) or not hasattr(value, "__float__"):
        raise InvalidType(f"{name}: expected seconds, but got {type_of(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = MAX_SECONDS if value > 0 else -1.0
    except (TypeError, ValueError):
        raise InvalidType(f"{name}: expected seconds, but got {type_of(value)}") from None
    if not number >= 0:
        raise InvalidArgument(f"{name}: expected seconds, 0 or more, but got {number}")
    return min(number, MAX_SECONDS)


def flag(name: str, value: object) -> bool:
    """Returns a truth value. Other values are refused, because "no" would be true."""
    if type_of(value) not in ("bool", "bool_"):
        raise InvalidType(f"{name}: expected True or False, but got {type_of(value)}")
    return bool(value)


def text(name: str, value: object) -> str:
    """Returns a text without NUL, which a C program can take."""
    if not isinstance(value, str):
        raise InvalidType(f"{name}: expected a str, but got {type_of(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{name}: expected text, but got a part of a character: {error}") from None
    return _without_nul(name, value)


def path(name: str, value: object) -> str:
    """Returns a path as a text."""
    if not isinstance(value, (str, os.PathLike)):
        raise InvalidType(f"{name}: expected a path, but got {type_of(value)}")
    made = os.fsdecode(value)
    if not made:
        raise InvalidArgument(f"{name}: expected a path, but got an empty text")
    try:
        os.fsencode(made)
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{name}: expected a path, but got a part of a character: {error}") from None
    return _without_nul(name, made)


def function(name: str, value: Any) -> None:
    """Raises InvalidType for a value that cannot be called."""
    if not callable(value):
        raise InvalidType(f"{name}: expected a function, but got {type_of(value)}")


def _without_nul(name: str, value: str) -> str:
    if "\0" in value:
        raise InvalidArgument(f"{name}: expected text without NUL, but got {value!r}")
    return value


def refuse_set(self: object, name: str, value: object) -> None:
    """Serves as `__setattr__` of classes whose objects are immutable."""
    raise AttributeError(f"{type_of(self)} is immutable, so its attribute '{name}' cannot be set")


def refuse_delete(self: object, name: str) -> None:
    """Serves as `__delattr__` of classes whose objects are immutable."""
    raise AttributeError(f"{type_of(self)} is immutable, so its attribute '{name}' cannot be deleted")
