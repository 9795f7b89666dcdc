"""Which types of Parquet go with which columns and times."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from orthostream.compression.schema import TimeAxis
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND

#: The key under which a field carries its unit.
UNIT_KEY = b"unit"

DATE_TEXT = "%Y-%m-%d"
_MOST_DIGITS = 19


def import_pyarrow() -> ModuleType:
    """Return pyarrow, which is an extra."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise TableError("Parquet needs pyarrow: pip install 'orthostream[parquet]'", names_table=False) from error
    module: ModuleType = pyarrow
    return module


def column_dtype(kind: Any, has_nulls: bool) -> str | None:
    """Return the name of the type of readings of an Arrow type, None if it holds no numbers.

    >>> pyarrow = import_pyarrow()
    >>> column_dtype(pyarrow.int16(), False), column_dtype(pyarrow.uint8(), True), column_dtype(pyarrow.string(), True)
    ('int16', 'UInt8', None)
    """
    types = import_pyarrow().types
    if types.is_boolean(kind):
        return "boolean" if has_nulls else "bool"
    if types.is_integer(kind):
        name = str(kind)
        return name.replace("uint", "UInt").replace("int", "Int") if has_nulls else name
    if types.is_float32(kind):
        return "float32"
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return "float64"
    return None


def arrow_type(dtype: str) -> Any:
    """Return the Arrow type of a column.

    >>> arrow_type("Int64"), arrow_type("bool")
    (DataType(int64), DataType(bool))
    """
    pyarrow = import_pyarrow()
    if dtype in ("bool", "boolean"):
        return pyarrow.bool_()
    return getattr(pyarrow, dtype.lower())()


def time_axis(name: str, kind: Any) -> TimeAxis | None:
    """Return the time axis of an Arrow type, None if it is not one of times.

    >>> time_axis("when", import_pyarrow().timestamp("ms", "Europe/Warsaw"))
    TimeAxis(name='when', unit='ms', text='', zone='Europe/Warsaw')
    """
    types = import_pyarrow().types
    if types.is_timestamp(kind):
        return TimeAxis(name=name, unit=kind.unit, text="", zone=kind.tz or "")
    if types.is_date(kind):
        return TimeAxis(name=name, unit="s" if types.is_date32(kind) else "ms", text=DATE_TEXT)
    return None


def number_axis(name: str, kind: Any) -> TimeAxis | None:
    """Return the time axis of numbers that are times, None if the type holds something else."""
    types = import_pyarrow().types
    if types.is_integer(kind):
        return TimeAxis(name=name, unit="")
    if types.is_decimal(kind) and kind.scale >= 0:
        return TimeAxis(name=name, unit=f"1e-{kind.scale}" if kind.scale else "")
    return None


def time_type(axis: TimeAxis) -> Any:
    """Return the Arrow type for times."""
    pyarrow = import_pyarrow()
    if axis.unit in TICKS_PER_SECOND:
        if axis.text == DATE_TEXT and axis.unit == "s" and not axis.zone:
            return pyarrow.date32()
        return pyarrow.timestamp(axis.unit, axis.zone or None)
    scale = int(axis.unit[3:]) if axis.unit else 0
    return pyarrow.decimal128(max(_MOST_DIGITS, scale), scale) if scale else pyarrow.int64()
