"""Saved encoders and decoders: JSON and arrays in one block of bytes; reading it runs no code from it.

The bytes: "OSTSTATE", u8 version, u64 bytes of what is packed, u64 bytes of what it unpacks to, SHA-256 of all other
bytes, and a zlib stream of u32 bytes of JSON, the JSON, and the arrays one after another. In the JSON an array is
``{"array": [type, shape]}``, in the order of the arrays.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from orthostream._whole_file import whole_file
from orthostream.compression.errors import FrameError

Place = str | os.PathLike[str]

_MAGIC, _VERSION = b"OSTSTATE", 1
_SIZES = struct.Struct("<BQQ")
_HEAD = len(_MAGIC) + _SIZES.size + 32
#: Maximum number of bytes of a state.
_LARGEST = 1 << 30
_MOST_OPTIONAL = 4
_TYPES = {"int64": "<i8", "float64": "<f8", "uint8": "|u1"}


def save_state(place: Place | BinaryIO, what: str, content: dict[str, Any]) -> None:
    """Write plain values and arrays to a path (completely or not at all) or to a binary file."""
    data = pack_state({"what": what, "content": content})
    if isinstance(place, str | os.PathLike):
        with whole_file(place) as temporary:
            temporary.write_bytes(data)
    else:
        place.write(data)


def load_state(place: Place | BinaryIO, what: str) -> dict[str, Any]:
    """Return what was saved; raise FrameError if it is damaged, or something else."""
    data = Path(place).read_bytes() if isinstance(place, str | os.PathLike) else place.read()
    found = unpack_state(data)
    kind, content = found.get("what"), found.get("content")
    if not isinstance(kind, str) or kind != what or not isinstance(content, dict):
        raise FrameError(f"the bytes are no saved {what}")
    return content


@contextmanager
def restoring() -> Iterator[None]:
    """Turn the errors of a state that does not fit into FrameError."""
    try:
        yield
    except FrameError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FrameError(f"the saved state does not fit: {type(error).__name__} {error}") from error


def check_integers(plain: Any, like: Any, name: str) -> None:
    """Raise ValueError unless integers, and lists and dicts of them, are as many and as named as others.

    Where the others have an empty list, there may be up to four integers.
    """
    if isinstance(like, dict):
        if not isinstance(plain, dict) or plain.keys() != like.keys():
            raise ValueError(f"{name} does not have the parts {', '.join(like)}.")
        for each, part in like.items():
            check_integers(plain[each], part, each)
    elif isinstance(like, list):
        if not isinstance(plain, list) or (len(plain) != len(like) if like else len(plain) > _MOST_OPTIONAL):
            raise ValueError(f"{name} does not have {len(like)} entries.")
        for each, part in zip(plain, like or [0] * len(plain), strict=True):
            check_integers(each, part, name)
    elif type(plain) is not int:
        raise ValueError(f"{name} must be an integer, not {plain!r}.")


def pack_state(tree: dict[str, Any]) -> bytes:
    """Return plain values and arrays of int64, float64 and uint8 as bytes."""
    arrays: list[bytes] = []
    text = json.dumps(_plain(tree, arrays), separators=(",", ":")).encode()
    raw = b"".join([struct.pack("<I", len(text)), text, *arrays])
    packed = zlib.compress(raw, 6)
    head = _MAGIC + _SIZES.pack(_VERSION, len(packed), len(raw))
    return head + hashlib.sha256(head + packed).digest() + packed


def _plain(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value, dtype=_TYPES[value.dtype.name]).tobytes())
        return {"array": [value.dtype.name, list(value.shape)]}
    if isinstance(value, dict):
        return {str(name): _plain(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, arrays) for part in value]
    return value


def unpack_state(data: bytes) -> dict[str, Any]:
    """Return what was packed; raise FrameError if the bytes are anything else."""
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEAD:
        raise FrameError("the bytes are no saved encoder or decoder")
    version, packed_size, raw_size = _SIZES.unpack_from(data, len(_MAGIC))
    if version != _VERSION:
        raise FrameError(f"the state was saved in version {version}, and only version {_VERSION} is known")
    head, digest, packed = data[: _HEAD - 32], data[_HEAD - 32 : _HEAD], data[_HEAD:]
    if len(packed) != packed_size or raw_size > _LARGEST or hashlib.sha256(head + packed).digest() != digest:
        raise FrameError("the saved state is damaged or cut short")
    with restoring():
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(packed, raw_size + 1)
        except zlib.error as error:
            raise FrameError(f"the saved state is damaged: {error}") from None
        if len(raw) != raw_size or not unpacker.eof or unpacker.unused_data:
            raise FrameError("the saved state is damaged")
        (size,) = struct.unpack_from("<I", raw) if len(raw) >= 4 else (0,)
        rest = _Arrays(raw, 4 + size)
        tree = rest.restored(json.loads(raw[4 : 4 + size]))
        if not isinstance(tree, dict) or rest.at != len(raw):
            raise FrameError("the saved state is damaged")
        return tree


class _Arrays:
    """Arrays that stand one after another in some bytes."""

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw = raw
        self.at = at

    def restored(self, value: Any) -> Any:
        """Return a value with its arrays."""
        if isinstance(value, list):
            return [self.restored(part) for part in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"array"}:
            name, shape = value["array"]
            return self._next(name, tuple(shape))
        return {name: self.restored(part) for name, part in value.items()}

    def _next(self, name: str, shape: tuple[int, ...]) -> Any:
        if not all(isinstance(length, int) and length >= 0 for length in shape):
            raise FrameError("the saved state is damaged")
        kind = np.dtype(_TYPES[name])
        end = self.at + math.prod(shape) * kind.itemsize
        if end > len(self._raw):
            raise FrameError("the saved state is damaged")
        found = np.frombuffer(self._raw[self.at : end], dtype=kind).reshape(shape).astype(name)
        self.at = end
        return found
