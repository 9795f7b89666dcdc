"""The time column of a table: found, read, and written as it was."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

import numpy as np

from orthostream._typing import IntArray
from orthostream.compression.schema import TimeAxis
from orthostream.compression.tables.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    TimeTextError,
    guess_pattern,
    is_date,
    offset_of,
    parse_dates,
    zone_of,
)
from orthostream.compression.tables.decimals import parse_decimals
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND, Texts, TimePattern

#: Names of columns whose numbers are times.
TIME_NAMES = frozenset(
    {"time", "timestamp", "times", "t", "ts", "epoch", "unix", "unixtime", "unix_time", "unix time", "date", "datetime"}
)

_SCALE = re.compile(r"1e-(\d{1,2})", re.ASCII)
_DECIMAL = re.compile(r"([-+]?)(\d+)(?:\.(\d*))?", re.ASCII)
_MOST_TICKS = 2**63 - 1
# Up to here a product with a power of ten is wrong by less than one half.
_SURELY_EXACT = 2**51
_SLOT = 900
_YEAR_1, _YEAR_9999 = -62_135_500_000, 253_370_000_000


class TimeColumn(ABC):
    """Reads the texts of a time column."""

    #: How the times are kept and written.
    axis: TimeAxis

    @abstractmethod
    def parse(self, texts: Texts) -> IntArray:
        """Return the ticks of texts; TimeTextError tells the place of one that is no time."""


class DateColumn(TimeColumn):
    """Dates, with or without a time of day and a zone.

    >>> column = DateColumn("when", ["2017-01-01T00:00+01:00"])
    >>> column.axis.text, column.axis.zone, column.parse(np.array([b"2017-01-01T00:00+01:00"])).tolist()
    ('%Y-%m-%dT%H:%M%:z', '+01:00', [1483225200])
    """

    def __init__(self, name: str, texts: Sequence[str], pattern: str | None = None, unit: str | None = None) -> None:
        guessed, finest = guess_pattern(texts) if pattern is None else (pattern, "us" if "f" in pattern else "s")
        text, unit = guessed, unit or finest
        self.axis = TimeAxis(name=name, unit=unit, text=text, zone=zone_of(texts[0]))
        self._pattern = TimePattern(text, unit)
        day, month = text.replace("-", "").find("%d"), text.replace("-", "").find("%m")
        self._order = DAY_FIRST if day < month else MONTH_FIRST
        self._literal_offset = 0 if self._pattern.has_zone else offset_of(self.axis.zone)

    def parse(self, texts: Texts) -> IntArray:
        done = self._pattern.parse(texts)
        if done is not None:
            ticks, offsets = done
            return ticks - (offsets + self._literal_offset) * TICKS_PER_SECOND[self.axis.unit]
        has_zone = self._pattern.has_zone or bool(self.axis.zone)
        return parse_dates([text.decode() for text in texts.tolist()], self.axis.unit, self._order, has_zone=has_zone)


class NumberColumn(TimeColumn):
    """Whole or decimal numbers.

    >>> column = NumberColumn("t", ["0.00", "0.25"])
    >>> column.axis.unit, column.axis.text, column.parse(np.array([b"0.00", b"0.25"])).tolist()
    ('1e-2', '%.2f', [0, 25])
    """

    def __init__(self, name: str, texts: Sequence[str]) -> None:
        decimals = {len(match[3] or "") for match in map(_DECIMAL.fullmatch, texts) if match}
        self._decimals = max(decimals, default=0)
        text = f"%.{self._decimals}f" if len(decimals) == 1 and self._decimals else ""
        self.axis = TimeAxis(name=name, unit=f"1e-{self._decimals}" if self._decimals else "", text=text)

    def parse(self, texts: Texts) -> IntArray:
        width = texts.dtype.itemsize
        starts = np.arange(texts.size) * width
        letters = np.ascontiguousarray(texts).view(np.uint8)
        values, odd = parse_decimals(letters, starts, starts + np.char.str_len(texts))
        scaled = np.rint(values * 10.0**self._decimals)
        if not odd.any() and (np.abs(scaled) < _SURELY_EXACT).all() and (scaled / 10.0**self._decimals == values).all():
            ticks: IntArray = scaled.astype(np.int64)
            return ticks
        return np.array([self._parse_one(place, text.decode()) for place, text in enumerate(texts.tolist())])

    def _parse_one(self, place: int, text: str) -> int:
        match = _DECIMAL.fullmatch(text)
        if not match:
            raise TimeTextError(place, "is not a time: a whole or decimal number was expected")
        decimals = (match[3] or "").rstrip("0")
        if len(decimals) > self._decimals:
            raise TimeTextError(place, f"has more decimals than the first times have ({self._decimals})")
        ticks = int(match[2] + decimals.ljust(self._decimals, "0")) * (-1 if match[1] == "-" else 1)
        if abs(ticks) > _MOST_TICKS:
            raise TimeTextError(place, "is too large for a time")
        return ticks


def guess_time(
    name: str, texts: Sequence[str], *, named: bool = False, pattern: str | None = None, unit: str | None = None
) -> TimeColumn | None:
    """Return how to read a column if it holds times: dates, or numbers under a name that says so.

    Parameters
    ----------
    name, texts : of the column
    named : the caller says that this is the time column
    pattern, unit : of dates, where they are not to be guessed

    Examples
    --------
    >>> guess_time("a", ["1", "2"]) is None, guess_time("Time", ["1", "2"]).axis.unit
    (True, '')
    """
    sample = [text for text in texts if text][:20]
    if not sample:
        return None
    if _mostly(is_date, sample) or (named and pattern is not None):
        return DateColumn(name, [text for text in texts if is_date(text)] or sample, pattern, unit)
    if (named or name.strip().lower() in TIME_NAMES) and _mostly(_DECIMAL.fullmatch, sample):
        return NumberColumn(name, texts)
    return None


def _mostly(kind: Callable[[str], object], sample: Sequence[str]) -> bool:
    # One that is wrong is to be reported as such, and must not make the column one of text.
    return bool(kind(sample[0])) and 2 * sum(bool(kind(text)) for text in sample) >= len(sample)


def time_texts(ticks: IntArray, axis: TimeAxis) -> list[str]:
    """Return moments as the table they came from wrote them.

    >>> time_texts(np.array([0]), TimeAxis("t", "ms")), time_texts(np.array([0]), TimeAxis("t", "s", zone="+02:00"))
    (['1970-01-01T00:00:00.000'], ['1970-01-01T02:00:00+02:00'])
    """
    if axis.unit not in TICKS_PER_SECOND:
        return _decimal_texts(ticks, axis)
    per_second = TICKS_PER_SECOND[axis.unit]
    seconds = ticks // per_second
    # Years of four digits, and room for an offset; what lies beyond is written as NumPy writes it.
    room = 2**63 // per_second - 172_800
    if ((seconds < max(-room, _YEAR_1)) | (seconds >= min(room, _YEAR_9999))).any():
        far: list[str] = ticks.astype(f"datetime64[{axis.unit}]").astype(str).tolist()
        return far
    offsets = _offsets(seconds, axis.zone)
    return _pattern_of(axis).format(ticks + offsets * per_second, offsets)


def parse_time(text: str, axis: TimeAxis) -> int:
    """Return the tick of a moment that a user has typed; one without a zone is in that of the axis.

    Raises
    ------
    TableError
        If it is none.

    Examples
    --------
    >>> parse_time("1970-01-02", TimeAxis("t", "s")), parse_time("2.5", TimeAxis("t", "1e-3"))
    (86400, 2500)
    """
    text = text.strip()
    if axis.unit not in TICKS_PER_SECOND:
        try:
            return int(Decimal(text).scaleb(_decimals(axis)).to_integral_value())
        except (InvalidOperation, ValueError, OverflowError) as error:
            raise TableError(
                f"{text!r} is not a time: column {axis.name!r} holds numbers", names_table=False
            ) from error
    try:
        tick = int(parse_dates([text], axis.unit)[0])
    except TimeTextError as error:
        raise TableError(f"{text!r} {error.reason}; write it as 2017-12-31T23:59:59", names_table=False) from error
    if zone_of(text):
        return tick
    per_second = TICKS_PER_SECOND[axis.unit]
    return tick - int(_offsets(np.array([tick // per_second]), axis.zone)[0]) * per_second


def _pattern_of(axis: TimeAxis) -> TimePattern:
    default = "%Y-%m-%dT%H:%M:%S" + (".%f" if axis.unit != "s" else "") + ("%:z" if axis.zone else "")
    try:
        return TimePattern(axis.text or default, axis.unit)
    except ValueError:
        # Not a pattern of ours: others may keep notes of their own there.
        return TimePattern(default, axis.unit)


def _decimals(axis: TimeAxis) -> int:
    scale = _SCALE.fullmatch(axis.unit)
    return int(scale[1]) if scale else 0


def _decimal_texts(ticks: IntArray, axis: TimeAxis) -> list[str]:
    decimals = _decimals(axis)
    if not decimals:
        return list(map(str, ticks.tolist()))
    texts = []
    for tick in ticks.tolist():
        whole, part = divmod(abs(tick), 10**decimals)
        digits = f"{part:0{decimals}d}"
        text = f"{'-' if tick < 0 else ''}{whole}.{digits}"
        texts.append(text if axis.text else text.rstrip("0").rstrip("."))
    return texts


def _offsets(seconds: IntArray, zone: str) -> IntArray:
    """Return how far ahead of UTC a zone is at some moments."""
    if zone[:1] in ("", "+", "-") or zone in ("UTC", "Z"):
        return np.full(seconds.shape, offset_of(zone))
    try:
        named = ZoneInfo(zone)
    except (KeyError, OSError, ValueError) as error:
        raise TableError(f"the time zone {zone!r} is not known here: pip install tzdata", names_table=False) from error
    # Zones change their clocks on the quarter of an hour.
    slots, place = np.unique(seconds // _SLOT, return_inverse=True)
    start = datetime(1970, 1, 1, tzinfo=ZoneInfo("UTC"))
    offsets = [(start + timedelta(seconds=_SLOT * int(slot))).astimezone(named).utcoffset() for slot in slots]
    return np.array([int(offset.total_seconds()) if offset else 0 for offset in offsets], dtype=np.int64)[place]
