"""Dates as tables write them: ISO 8601, and day or month first."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from orthostream._typing import IntArray
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.time_pattern import DECIMALS, ticks_of

_CLOCK = (
    r"(?:(?P<gap>[T ])(?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:\.(?P<f>\d{1,9}))?)?)?"
    r"(?P<zone> ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?"
)
_YEAR_FIRST = re.compile(r"(?P<Y>\d{4})(?P<dot>[-/.])(?P<m>\d{1,2})(?P=dot)(?P<d>\d{1,2})" + _CLOCK, re.ASCII)
_YEAR_LAST = re.compile(r"(?P<a>\d{1,2})(?P<dot>[-/.])(?P<b>\d{1,2})(?P=dot)(?P<Y>\d{4})" + _CLOCK, re.ASCII)
_UTC = ("Z", "UTC")

#: Where the day is in a date that ends with its year.
DAY_FIRST, MONTH_FIRST = "day first", "month first"


def is_date(text: str) -> bool:
    """Whether a text is a date, with or without a time of day.

    >>> is_date("2017-01-01T00:00"), is_date("1.2.2017"), is_date("20170101"), is_date("12:30")
    (True, True, False, False)
    """
    return bool(_match(text))


def guess_pattern(texts: Sequence[str]) -> tuple[str, str]:
    """Return the pattern that dates are written in, and the unit that tells them apart.

    Raises
    ------
    TableError
        If nothing tells day from month.

    Examples
    --------
    >>> guess_pattern(["2017-01-01 00:00:00.250"]), guess_pattern(["1/31/2017 9:30"])
    (('%Y-%m-%d %H:%M:%S.%f', 'ms'), ('%-m/%-d/%Y %-H:%M', 's'))
    """
    found = [match for match in map(_match, texts) if match]
    first = found[0]
    dot = first["dot"]
    short = {
        part for match in found for part in "abmdH" if part in match.re.groupindex and len(match[part] or "00") < 2
    }
    if "a" in first.re.groupindex:
        day = day_or_month_first(texts) == DAY_FIRST
        unpadded = short & {"a", "b"}
        names = [f"%{'-' if unpadded else ''}{kind}" for kind in (("d", "m") if day else ("m", "d"))]
        date = dot.join([*names, "%Y"])
    else:
        date = dot.join(["%Y", *(f"%{'-' if short & {'m', 'd'} else ''}{kind}" for kind in "md")])
    clock = max(found, key=lambda match: sum(match[part] is not None for part in ("gap", "S", "f")))
    digits = max(len(match["f"] or "") for match in found)
    unit = next(unit for unit, decimals in DECIMALS.items() if decimals >= digits)
    if clock["gap"]:
        date += f"{clock['gap']}%{'-' if 'H' in short else ''}H:%M"
        date += ":%S" if clock["S"] else ""
        if digits:
            date += ".%f" if DECIMALS[unit] == digits else f".%{digits}f"
    zone = first["zone"] or ""
    if zone.strip() in _UTC:
        return date + zone, unit
    return date + (" " if zone.startswith(" ") else "") + _zone_directive(zone.strip()), unit


def day_or_month_first(texts: Sequence[str]) -> str:
    """Return which of the two numbers of dates that end with the year is the day."""
    found = [match for match in map(_YEAR_LAST.fullmatch, texts) if match]
    if any(match["dot"] == "." for match in found):
        return DAY_FIRST
    day_first = any(int(match["a"]) > 12 for match in found)
    month_first = any(int(match["b"]) > 12 for match in found)
    if day_first == month_first:
        example = found[0].group() if found else ""
        raise TableError(
            f"the date {example!r} may begin with its day or with its month; "
            "say which by a pattern of times such as '%d/%m/%Y %H:%M'",
            names_table=False,
        )
    return DAY_FIRST if day_first else MONTH_FIRST


def zone_of(text: str) -> str:
    """Return the zone that a date names, as "+02:00" or "UTC"; "" if it names none.

    >>> zone_of("2017-01-01T00:00Z"), zone_of("2017-01-01 00:00+0130"), zone_of("2017-01-01")
    ('UTC', '+01:30', '')
    """
    match = _match(text)
    zone = (match["zone"] or "").strip() if match else ""
    if not zone or zone in _UTC:
        return "UTC" if zone else ""
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"


def parse_dates(texts: Sequence[str], unit: str, order: str | None = None, *, has_zone: bool | None = None) -> IntArray:
    """Return ticks of UTC for dates in any of the known ways, one after another.

    With ``has_zone``, either all or none of them must have an offset from UTC.

    Raises
    ------
    TimeTextError
        With the place of the first text that is none; MixedZonesError if it is a date with the wrong kind of zone.
    """
    matches = [_match(text) for text in texts]
    if has_zone is not None:
        for place, match in enumerate(matches):
            if match is not None and (match["zone"] is not None) != has_zone:
                raise MixedZonesError(place, f"has {'no' if has_zone else 'an'} offset from UTC")
    fields = [_fields(match, order) if match else None for match in matches]
    good = [field for field in fields if field is not None]
    if len(good) == len(fields) and fields:
        done = ticks_of({kind: np.array([field[kind] for field in good]) for kind in good[0]}, unit)
        if done is not None:
            return done[0] - _scaled(done[1], unit)
    for place, field in enumerate(fields):
        if field is None or ticks_of({kind: np.array([value]) for kind, value in field.items()}, unit) is None:
            finer = field is not None and field["f"] % 10 ** (9 - DECIMALS[unit])
            reason = f"is finer than the unit of the times, {unit}" if finer else "is not a date that can be read"
            raise TimeTextError(place, reason)
    return np.zeros(0, dtype=np.int64)


class TimeTextError(ValueError):
    """The place of a text that is no date, and why."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class MixedZonesError(TimeTextError):
    """The place of a date that has an offset from UTC where those before it have none, or the other way round."""


def _match(text: str) -> re.Match[str] | None:
    return _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text)


def _fields(match: re.Match[str], order: str | None) -> dict[str, int]:
    parts = match.groupdict()
    if "a" in parts:
        day_first = (order or day_or_month_first([match.group()])) == DAY_FIRST
        parts["d"], parts["m"] = (parts["a"], parts["b"]) if day_first else (parts["b"], parts["a"])
    fields = {kind: int(parts[kind] or 0) for kind in "YmdHMS"}
    fields["f"] = int((parts["f"] or "0").ljust(9, "0"))
    fields["z"] = offset_of(zone_of(match.group()))
    return fields


def offset_of(zone: str) -> int:
    """Return the seconds by which a zone such as "+02:00" is ahead of UTC; 0 for "UTC" and for none.

    >>> offset_of("-01:30"), offset_of("UTC")
    (-5400, 0)
    """
    if zone in ("", *_UTC):
        return 0
    if not re.fullmatch(r"[+-]\d\d:\d\d", zone):
        raise TableError(f"{zone!r} is no offset from UTC such as +02:00", names_table=False)
    hours, minutes = zone[1:].split(":")
    return (3_600 * int(hours) + 60 * int(minutes)) * (-1 if zone[0] == "-" else 1)


def _scaled(seconds: IntArray, unit: str) -> IntArray:
    scaled: IntArray = seconds * 10 ** DECIMALS[unit]
    return scaled


def _zone_directive(zone: str) -> str:
    if not zone:
        return ""
    return "%z" if len(zone) == 5 else "%:z"
