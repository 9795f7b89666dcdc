"""What the columns of a stream are, and when its samples were taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orthostream.compression.errors import FrameError

#: Types that a column may have outside.
TABLE_TYPES = frozenset(
    ["bool", "float64", "float32", "Float64", "Float32", "boolean"]
    + [f"{sign}{kind}{bits}" for sign in ("", "u") for kind in ("int",) for bits in (8, 16, 32, 64)]
    + [f"{name}{bits}" for name in ("Int", "UInt") for bits in (8, 16, 32, 64)]
)
#: What a stream was before: an array, or a table of pandas.
KINDS = ("array", "table", "table numbered", "series", "series numbered", "nameless series")
#: Maximum number of sensors of a stream.
MOST_COLUMNS = 65536


@dataclass(frozen=True)
class Column:
    """One sensor: its name, its unit, and the type that its readings have outside."""

    name: str
    unit: str = ""
    dtype: str = "float64"

    @property
    def is_whole(self) -> bool:
        """Whether readings are integers outside."""
        return self.dtype.lower().startswith(("int", "uint", "bool"))

    @property
    def is_single(self) -> bool:
        """Whether readings are floats of 32 bits outside."""
        return self.dtype.lower() == "float32"


@dataclass(frozen=True)
class TimeAxis:
    """When samples were taken, as integers.

    ``unit`` is that of a tick: "ns", "us", "ms" or "s" since 1970, "" for plain integers, or a decimal such as "1e-3"
    for decimal numbers. ``text`` is how times are written (a strftime pattern, "" for the default), ``zone`` an IANA
    name or an offset such as "+02:00", "" for none.
    """

    name: str
    unit: str = ""
    text: str = ""
    zone: str = ""

    def ticks_per_day(self) -> int | None:
        """Return how many ticks a day has, None where ticks are no time."""
        seconds = {"ns": 10**9, "us": 10**6, "ms": 1000, "s": 1}.get(self.unit)
        return None if seconds is None else 86400 * seconds


@dataclass(frozen=True)
class Schema:
    """The columns of a stream, its time axis if it has one, and what it was before: an array, or a table.

    Examples
    --------
    >>> Schema.of(3).columns[0]
    Column(name='0', unit='', dtype='float64')
    """

    columns: tuple[Column, ...]
    time: TimeAxis | None = None
    kind: str = "array"

    @classmethod
    def of(cls, n_sensors: int, dtype: str = "float64") -> Schema:
        """Return a schema of numbered columns without times."""
        return cls(tuple(Column(str(i), dtype=dtype) for i in range(n_sensors)))

    def to_plain(self) -> dict[str, Any]:
        """Return the schema as lists and strings, without what can be left out."""
        plain: dict[str, Any] = {"n": len(self.columns)}
        for key, default in (("name", None), ("unit", ""), ("dtype", "float64")):
            values = [getattr(column, key) for column in self.columns]
            if key == "name" and values == [str(i) for i in range(len(values))]:
                continue
            if len(set(values)) > 1 or key == "name":
                plain[key] = values
            elif values and values[0] != default:
                plain[key] = values[0]
        if self.time is not None:
            plain["time"] = [self.time.name, self.time.unit, self.time.text, self.time.zone]
        if self.kind != "array":
            plain["kind"] = self.kind
        return plain

    @classmethod
    def from_plain(cls, plain: Any, most_columns: int = MOST_COLUMNS) -> Schema:
        """Return the schema that was made plain; raise FrameError if it cannot be one."""
        try:
            n = plain["n"]
            if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= MOST_COLUMNS:
                raise FrameError(f"a stream must have 1 to {MOST_COLUMNS} sensors, the header says {n!r}")
            if n > most_columns:
                raise FrameError(f"the stream has {n} sensors; to allow more than {most_columns}, say so (max_sensors)")
            lists = []
            for key, default in (("name", None), ("unit", ""), ("dtype", "float64")):
                given = plain.get(key, default)
                values = (
                    [str(i) for i in range(n)] if given is None else [given] * n if isinstance(given, str) else given
                )
                if (
                    not isinstance(values, list)
                    or len(values) != n
                    or not all(isinstance(value, str) for value in values)
                ):
                    raise FrameError(f"the header's {key} is not one text for each of {n} sensors")
                _check_text("".join(values))
                lists.append(values)
            if not set(lists[2]) <= TABLE_TYPES:
                raise FrameError("the header names an unknown type of a column")
            time = plain.get("time")
            is_list = isinstance(time, list) and len(time) == 4
            if time is not None and not (is_list and all(isinstance(part, str) for part in time)):
                raise FrameError("the header's time axis is not four texts")
            _check_text("".join(time or ()))
            kind = plain.get("kind", "array")
            if kind not in KINDS:
                raise FrameError(f"the header names an unknown kind of table, {kind!r}")
            return cls(tuple(map(Column, *lists)), None if time is None else TimeAxis(*time), kind)
        except (KeyError, TypeError, AttributeError) as error:
            raise FrameError(f"the header of the stream is damaged: {error}") from None


def _check_text(text: str) -> None:
    """Raise FrameError for halves of a surrogate pair, which are no characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FrameError("the header of the stream holds a text that is no Unicode") from None
