"""pandas tables as readings, and readings as pandas tables; imported only where one is given or asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.errors import FrameError
from orthostream.compression.schema import KINDS, TABLE_TYPES, Column, Schema, TimeAxis
from orthostream.compression.tables.typed import typed

_INDEX_TYPES = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def table_to_arrays(table: Any) -> tuple[FloatArray, IntArray | None, Schema]:
    """Return the readings, the times and the schema of a DataFrame or a Series."""
    import pandas as pd

    series = isinstance(table, pd.Series)
    frame = table.to_frame() if series else table
    if isinstance(frame.columns, pd.MultiIndex):
        raise ValueError("columns of several levels cannot be kept; join their names first.")
    if frame.shape[1] == 0:
        raise ValueError("the table has no columns.")
    labels = list(frame.columns)
    whole = all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels)
    kind = "series" if series else "table"
    if series and table.name is None:
        kind, labels = "nameless series", [""]
    elif whole:
        kind += " numbered"
    elif not all(isinstance(label, str) for label in labels):
        raise ValueError("columns must be named by texts, or by integers.")
    columns = []
    arrays = []
    for label, (_, column) in zip(labels, frame.items(), strict=True):
        dtype = str(column.dtype)
        if dtype not in TABLE_TYPES:
            raise ValueError(f"column {label!r} holds {dtype}; readings must be numbers (convert or drop it).")
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if "int" in dtype.lower() and ((column > 2**53) | (column < -(2**53))).any():
            raise ValueError(f"column {label!r} holds integers beyond 2**53, which cannot be kept exactly.")
        columns.append(Column(str(label), dtype=dtype))
        arrays.append(values)
    axis, times = _axis(frame.index)
    return np.stack(arrays, axis=1), times, Schema(tuple(columns), axis, kind)


def _axis(index: Any) -> tuple[TimeAxis | None, IntArray | None]:
    import pandas as pd

    name = index.name
    if name is not None and not isinstance(name, str):
        raise ValueError(f"the index must be named by a text, got {name!r}.")
    mark = "pandas" if name is None else "pandas named"
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1 and name is None:
        return None, None
    if isinstance(index, pd.DatetimeIndex):
        if index.hasnans:
            raise ValueError("the index has times that are missing.")
        zone = "" if index.tz is None else str(index.tz)
        try:
            index[:0].tz_localize(None).tz_localize(zone or None)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"the zone {zone} has no name that it could be found by; use an IANA name.") from None
        stamps = index.tz_localize(None) if index.tz is None else index.tz_convert("UTC").tz_localize(None)
        return TimeAxis(name or "", index.unit, mark, zone), stamps.to_numpy().astype(np.int64)
    if isinstance(index, pd.TimedeltaIndex) and not index.hasnans:
        return TimeAxis(name or "", index.unit, f"{mark} timedelta"), index.to_numpy().astype(np.int64)
    if index.dtype.kind in "iu" and not isinstance(index, pd.MultiIndex):
        kind = f"{mark} {index.dtype}"
        return TimeAxis(name or "", "", kind), index.to_numpy().astype(np.int64)
    raise ValueError(
        f"an index of {index.dtype} cannot be kept; make it dates, time differences or integers, or use reset_index()."
    )


def arrays_to_table(values: FloatArray, times: IntArray | None, schema: Schema) -> Any:
    """Return the DataFrame or the Series that readings were; raise FrameError where the schema is of none."""
    try:
        return _table(values, times, schema)
    except (KeyError, TypeError, ValueError, OSError, OverflowError) as error:
        raise FrameError(f"the header describes a table that cannot be: {error}") from None


def _table(values: FloatArray, times: IntArray | None, schema: Schema) -> Any:
    import pandas as pd

    if schema.kind not in KINDS:
        raise FrameError(f"there is no kind of table called {schema.kind!r}")
    numbered = schema.kind.endswith("numbered")
    frame = pd.DataFrame(
        {i: _column(values[:, i], column.dtype) for i, column in enumerate(schema.columns)}, index=_index(times, schema)
    )
    labels: list[Any] = [int(column.name) if numbered else column.name for column in schema.columns]
    frame.columns = pd.Index(labels)
    if not schema.kind.endswith("series") and not schema.kind.startswith("series"):
        return frame
    series = frame.iloc[:, 0]
    return series.rename(None) if schema.kind == "nameless series" else series


def _column(values: FloatArray, dtype: str) -> Any:
    import pandas as pd

    if dtype[0].isupper() or dtype == "boolean":
        known = ~np.isnan(values)
        plain = np.where(known, values, 0.0)
        if dtype == "boolean":
            return pd.arrays.BooleanArray(plain.astype(bool), ~known)
        if dtype.startswith("Float"):
            return pd.array(np.where(known, values, np.nan), dtype=dtype)
        return pd.arrays.IntegerArray(typed(plain, dtype), ~known)
    return typed(values, dtype)


def _index(times: IntArray | None, schema: Schema) -> Any:
    import pandas as pd

    axis = schema.time
    if times is None or axis is None:
        return None
    name = axis.name if axis.text.startswith("pandas named") or not axis.text.startswith("pandas") else None
    kind = axis.text.removeprefix("pandas").removeprefix(" named").strip()
    if kind == "timedelta":
        return pd.TimedeltaIndex(times.astype(f"timedelta64[{axis.unit}]"), name=name)
    if kind:
        if kind.lower() not in _INDEX_TYPES:
            raise FrameError(f"the header describes an index of {kind}")
        return pd.Index(times.astype(kind.lower()), name=name, dtype=kind)
    if axis.unit in ("ns", "us", "ms", "s"):
        index = pd.DatetimeIndex(times.astype(f"datetime64[{axis.unit}]"), name=name)
        return index if not axis.zone else index.tz_localize("UTC").tz_convert(axis.zone)
    return pd.Index(times, name=name)
