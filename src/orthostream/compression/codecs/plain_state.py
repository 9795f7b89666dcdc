"""States of codecs as plain values and arrays: out of named tuples and objects, and checked on their way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrays_of(state: Any) -> Any:
    """Return copies of the arrays of a named tuple, however nested, by their names.

    >>> from typing import NamedTuple
    >>> Point = NamedTuple("Point", [("x", object)])
    >>> arrays_of(Point(np.zeros(1)))
    {'x': array([0.])}
    """
    if isinstance(state, np.ndarray):
        return state.copy()
    if hasattr(state, "_fields"):
        return {name: arrays_of(getattr(state, name)) for name in state._fields}
    if isinstance(state, list | tuple):
        return [arrays_of(part) for part in state]
    raise ValueError(f"a state holds a {type(state).__name__}, which cannot be saved.")


def fill_arrays(state: Any, plain: Any, name: str = "state") -> None:
    """Write arrays into those of a named tuple, however nested; names, types and shapes must be the same."""
    if isinstance(state, np.ndarray):
        state[...] = checked_array(plain, state.dtype.name, state.shape, name)
        return
    if hasattr(state, "_fields"):
        if not isinstance(plain, dict) or plain.keys() != set(state._fields):
            raise ValueError(f"{name} does not have the parts {', '.join(state._fields)}.")
        for each in state._fields:
            fill_arrays(getattr(state, each), plain[each], each)
        return
    if not isinstance(plain, list) or len(plain) != len(state):
        raise ValueError(f"{name} does not have {len(state)} parts.")
    for own, part in zip(state, plain, strict=True):
        fill_arrays(own, part, name)


def checked_array(value: Any, dtype: str, shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Return an array, if it is one of this type and shape."""
    if not isinstance(value, np.ndarray) or value.dtype.name != dtype or value.shape != shape:
        found = f"{value.dtype.name} of {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} must be an array of {dtype} of shape {shape}, not {found}.")
    return value


def checked_bytes(value: Any, name: str) -> bytes:
    """Return the bytes of an array of uint8, if it is one."""
    return checked_array(value, "uint8", value.shape[:1] if isinstance(value, np.ndarray) else (), name).tobytes()


def values_of(owner: object, names: Sequence[str]) -> dict[str, Any]:
    """Return some attributes: numbers and copies of arrays."""
    found = {name: getattr(owner, name) for name in names}
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in found.items()}


def set_values(owner: object, plain: Any, names: Sequence[str]) -> None:
    """Set some attributes; each must be of the type, and an array of the shape, of the one that is there."""
    if not isinstance(plain, dict) or plain.keys() != set(names):
        raise ValueError(f"the state of a {type(owner).__name__} does not have the parts {', '.join(names)}.")
    for name in names:
        old, value = getattr(owner, name), plain[name]
        if isinstance(old, np.ndarray):
            value = checked_array(value, old.dtype.name, old.shape, name).copy()
        elif type(value) is not type(old) and not (isinstance(old, float) and type(value) is int):
            raise ValueError(f"{name} must be a {type(old).__name__}, not {value!r}.")
        setattr(owner, name, value)
