"""How moments are written: a pattern of fields, many texts at once."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import BoolArray, ByteArray, IntArray

Texts: TypeAlias = NDArray[np.bytes_]

#: Ticks in a second, and decimals of a second that a tick can tell apart.
TICKS_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
DECIMALS = {"s": 0, "ms": 3, "us": 6, "ns": 9}

_DIRECTIVE = re.compile(r"%(-[dmH]|:z|[1-9]f|.)", re.DOTALL)
_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "-m": 2, "-d": 2, "-H": 2}
_ZERO = ord("0")


class _Field(NamedTuple):
    kind: str  # a directive, or "" for a text that stands for itself
    text: bytes
    start: int
    width: int


class TimePattern:
    """Fields of a moment in a fixed order: ``%Y %m %d %H %M %S``, and these.

    ``%f`` are the decimals of a second, as many as the unit tells apart; ``%1f`` to ``%9f`` so many of them. ``%z`` is
    +0200 and ``%:z`` is +02:00. ``%-d``, ``%-m`` and ``%-H`` come without a leading zero.

    Parameters
    ----------
    text : the pattern
    unit : of a tick since 1970, one of "s", "ms", "us", "ns"

    Examples
    --------
    >>> pattern = TimePattern("%d.%m.%Y %H:%M", "s")
    >>> ticks, offsets = pattern.parse(np.array([b"24.12.2017 18:30"]))
    >>> ticks.tolist(), pattern.format(ticks, offsets)
    ([1514140200], ['24.12.2017 18:30'])
    """

    def __init__(self, text: str, unit: str) -> None:
        self.text = text
        self.unit = unit
        self._fields = self._split(text, DECIMALS[unit])
        self._width = sum(field.width for field in self._fields)
        kinds = {field.kind for field in self._fields}
        self.is_padded = not any(kind.startswith("-") for kind in kinds)
        self.has_zone = bool(kinds & {"z", ":z"})
        if not ({"Y"} <= kinds and kinds & {"m", "-m"} and kinds & {"d", "-d"}):
            raise ValueError(f"a pattern of moments needs a year, a month and a day (%Y, %m, %d), got {text!r}.")

    @staticmethod
    def _split(text: str, decimals: int) -> list[_Field]:
        fields: list[_Field] = []
        at = start = 0

        def add(kind: str, literal: bytes, width: int) -> None:
            nonlocal start
            fields.append(_Field(kind, literal, start, width))
            start += width

        for match in _DIRECTIVE.finditer(text):
            if match.start() > at:
                literal = text[at : match.start()].encode()
                add("", literal, len(literal))
            at, kind = match.end(), match.group(1)
            if kind == "%":
                add("", b"%", 1)
            elif kind in ("f", "z", ":z") or kind in _WIDTHS:
                add(kind, b"", {"f": decimals, "z": 5, ":z": 6}.get(kind) or _WIDTHS.get(kind, 0))
            elif kind.endswith("f"):
                add("f", b"", int(kind[0]))
            else:
                raise ValueError(f"%{kind} is not known in a pattern of moments, got {text!r}; there are {_KNOWN}.")
        if at < len(text):
            add("", text[at:].encode(), len(text[at:].encode()))
        return fields

    def parse(self, texts: Texts) -> tuple[IntArray, IntArray] | None:
        """Return local ticks and offsets from UTC in seconds, or None unless all texts are of this pattern."""
        if not self.is_padded or texts.dtype.itemsize != self._width or not texts.size:
            return None
        letters = np.ascontiguousarray(texts).view(np.uint8).reshape(texts.size, self._width)
        values: dict[str, IntArray] = {}
        for field in self._fields:
            part = letters[:, field.start : field.start + field.width]
            if field.kind == "":
                if (part != np.frombuffer(field.text, np.uint8)).any():
                    return None
                continue
            value = _offset(part) if field.kind in ("z", ":z") else _digits(part)
            if value is None:
                return None
            values[field.kind] = value * 10 ** (9 - field.width) if field.kind == "f" else value
        return ticks_of(values, self.unit)

    def format(self, ticks: IntArray, offsets: IntArray) -> list[str]:
        """Return the texts of local ticks."""
        values = fields_of(ticks, self.unit)
        letters = np.empty((ticks.size, self._width), dtype=np.uint8)
        kept: BoolArray | None = None if self.is_padded else np.ones(letters.shape, dtype=bool)
        for field in self._fields:
            part = letters[:, field.start : field.start + field.width]
            if field.kind == "":
                part[:] = np.frombuffer(field.text, np.uint8)
            elif field.kind in ("z", ":z"):
                _write_offset(part, offsets)
            elif field.kind == "f":
                _write_digits(part, values["f"] // 10 ** (9 - field.width))
            else:
                _write_digits(part, values[field.kind[-1]])
                if kept is not None and field.kind.startswith("-"):
                    kept[:, field.start] = part[:, 0] != _ZERO
        if kept is None:
            return _lines(letters)
        return [bytes(row[keep]).decode() for row, keep in zip(letters, kept, strict=True)]


_KNOWN = "%Y %m %d %H %M %S %f %z %:z, %1f to %9f, %-d %-m %-H"


def ticks_of(values: dict[str, IntArray], unit: str) -> tuple[IntArray, IntArray] | None:
    """Return ticks and offsets of fields, None if one of them is no date or out of the range of the unit.

    The decimals of a second, "f", are in nanoseconds.

    >>> ticks_of({"Y": np.array([1970]), "m": np.array([1]), "d": np.array([2])}, "s")[0].tolist()
    [86400]
    """
    year, month, day = values["Y"], values["m"], values["d"]
    nothing = np.zeros_like(year)
    hour, minute, second = (values.get(kind, nothing) for kind in "HMS")
    if ((month < 1) | (month > 12) | (day < 1) | (hour > 23) | (minute > 59) | (second > 59)).any():
        return None
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    if (day > (months + 1).astype("datetime64[D]").astype(np.int64) - first).any():
        return None
    seconds = 86_400 * (first + day - 1) + 3_600 * hour + 60 * minute + second
    per_second = TICKS_PER_SECOND[unit]
    if (np.abs(seconds) >= 2**63 // per_second - 86_400).any():
        return None
    fine = values.get("f", nothing)
    step = 1_000_000_000 // per_second
    if (fine % step).any():
        return None
    offsets = values.get("z", values.get(":z", nothing))
    return seconds * per_second + fine // step, offsets


def fields_of(ticks: IntArray, unit: str) -> dict[str, IntArray]:
    """Return year, month, ... of ticks, the decimals of a second in nanoseconds."""
    per_second = TICKS_PER_SECOND[unit]
    seconds, fine = np.divmod(ticks, per_second)
    days, of_day = np.divmod(seconds, 86_400)
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year, month = np.divmod(months.astype(np.int64), 12)
    return {
        "Y": year + 1970,
        "m": month + 1,
        "d": (dates - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "H": of_day // 3_600,
        "M": of_day // 60 % 60,
        "S": of_day % 60,
        "f": fine * (1_000_000_000 // per_second),
    }


def _digits(letters: ByteArray) -> IntArray | None:
    digits = letters - np.uint8(_ZERO)
    if (digits > 9).any():
        return None
    value = np.zeros(len(letters), dtype=np.int64)
    for place in range(letters.shape[1]):
        value = 10 * value + digits[:, place]
    return value


def _offset(letters: ByteArray) -> IntArray | None:
    sign = letters[:, 0]
    hour, minute = _digits(letters[:, 1:3]), _digits(letters[:, -2:])
    if hour is None or minute is None or not np.isin(sign, (ord("+"), ord("-"))).all():
        return None
    if letters.shape[1] == 6 and (letters[:, 3] != ord(":")).any():
        return None
    if (hour > 23).any() or (minute > 59).any():
        return None
    seconds: IntArray = np.where(sign == ord("-"), -1, 1) * (3_600 * hour + 60 * minute)
    return seconds


def _write_digits(letters: ByteArray, values: IntArray) -> None:
    for place in range(letters.shape[1] - 1, -1, -1):
        values, digit = np.divmod(values, 10)
        letters[:, place] = digit + _ZERO


def _write_offset(letters: ByteArray, offsets: IntArray) -> None:
    letters[:, 0] = np.where(offsets < 0, ord("-"), ord("+"))
    minutes = np.abs(offsets) // 60
    _write_digits(letters[:, 1:3], minutes // 60)
    if letters.shape[1] == 6:
        letters[:, 3] = ord(":")
    _write_digits(letters[:, -2:], minutes % 60)


def _lines(letters: ByteArray) -> list[str]:
    width = letters.shape[1]
    text = letters.tobytes().decode()
    # A literal of several bytes makes the text shorter than the bytes: cut bytes then.
    if len(text) != letters.size:
        return [row.tobytes().decode() for row in letters]
    return [text[at : at + width] for at in range(0, len(text), width)]
