"""The text of a header: packed into few bytes, and checked before it is parsed, so that a small one costs little."""

from __future__ import annotations

import json
import math
import re
import zlib
from typing import Any

from orthostream.compression.errors import FrameError

#: What headers usually hold, the likeliest last: deflate refers to it. It is part of the format and never changes.
DICTIONARY = (
    b'nameless series numbered","kind":"table numbered","kind":"table","kind":"series"'
    b'"preset":"compression","rotation_error":0.0"random_state":"memory":'
    b'"threshold":"angle_bits":"value_bits":"n_components":'
    b'Float32Float64booleanInt8UInt16Int32UInt64"bool","uint8","uint16","int8","int16","int32","int64","float32",'
    b"Europe/America/Asia/UTC+00:00%Y-%m-%dT%H:%M:%S.%f%d/%m/%Y %H:%M"
    b"pressuretemperaturehumidityvoltagecurrentpowerspeedflowlevelsensorstation_"
    b'"unit":["degC","%","hPa","ug/m3","m/s","kWh","V",'
    b'"dtype":"int64","dtype":"float32","time":["timestamp","ms","",'
    b'"time":["","ns","","time":["date","us","%Y-%m-%d %H:%M","",'
    b'"codec":"paper","options":{"learn":true,"target":{"n_nonzero":"codec":"transform","options":{"period":24},'
    b'"target":{"bits_per_reading":"target":{"rmse":0.{"name":["","unit":"degC","time":["time","s","",""],'
    b'{"n":1"options":{"period":1440},"target":{"relative_error":0.0{"target":{"max_error":0}}{"target":{"max_error":0.5}}'
)
#: Maximum number of bytes of a text; outside of its strings, of brackets, of colons, and of commas beside four for each
#: column; and of quotes beside ten for each column.
LONGEST_TEXT, _MOST_BRACKETS, _MOST_COLONS, _MOST_COMMAS, _MOST_QUOTES = 1 << 20, 64, 256, 256, 4096
#: Strings, also one that is never closed: otherwise every quote in it would be tried, which takes quadratic time.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
#: Maximum number of characters of an integer.
_LONGEST_INTEGER = 20


def deflated(text: bytes) -> bytes:
    """Return a text as a raw deflate stream that refers to `DICTIONARY`."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
    return packer.compress(text) + packer.flush()


def inflated(data: bytes) -> bytes:
    """Return the text that was deflated."""
    return _unpacked(zlib.decompressobj(-15, DICTIONARY), data, LONGEST_TEXT)


def unzipped(data: bytes) -> bytes:
    """Return the text of a header of version 1: a zlib stream."""
    return _unpacked(zlib.decompressobj(), data, min(200 * len(data), 4 * LONGEST_TEXT))


def _unpacked(unpacker: Any, data: bytes, most: int) -> bytes:
    try:
        text: bytes = unpacker.decompress(data, most)
    except zlib.error as error:
        raise FrameError(f"the header of the stream is damaged: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise FrameError("the header of the stream is longer than it may be, or cut short")
    return text


def parsed(text: bytes, most_columns: int) -> dict[str, Any]:
    """Return the JSON object that a text is; raise FrameError if it is none, or one of too many columns."""
    if text.count(b'"') > 10 * most_columns + _MOST_QUOTES:
        raise FrameError("the header of the stream holds more than a header can")
    skeleton = _STRINGS.sub(b"", text)
    few = skeleton.count(b"[") + skeleton.count(b"{") <= _MOST_BRACKETS and skeleton.count(b":") <= _MOST_COLONS
    if not few or skeleton.count(b",") > 4 * most_columns + _MOST_COMMAS:
        raise FrameError("the header of the stream holds more than a header can")
    try:
        plain = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except (ValueError, RecursionError) as error:
        raise FrameError(f"the header of the stream is damaged: {error}") from None
    if not isinstance(plain, dict):
        raise FrameError("the header of the stream is damaged: it is no object")
    return plain


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _constant(word: str) -> float:
    if word != "Infinity":
        raise ValueError(f"{word} is no number")
    return math.inf


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


def _short(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise ValueError("an integer is too long")
    return int(digits)
