"""Whole arrays and tables in one call, both ways."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthostream.compression.errors import FrameError
from orthostream.compression.file.reader import OstReader
from orthostream.compression.file.writer import OstWriter
from orthostream.compression.schema import TABLE_TYPES, Schema, TimeAxis
from orthostream.compression.tables.typed import typed
from orthostream.compression.targets import Target

_ROWS = 4096


def compress(
    readings: Any,
    target: Target | None = None,
    *,
    max_error: Any = None,
    relative_error: Any = None,
    rmse: float | None = None,
    bits_per_reading: float | None = None,
    time: ArrayLike | None = None,
    **settings: Any,
) -> bytes:
    """Return readings as the bytes of an .ost file.

    Parameters
    ----------
    readings : array (n_samples, n_sensors), or pandas DataFrame or Series
        NaN where a reading is missing. Of a table the names, the index and the types of the columns are kept.
    target : Target, optional
        `MaxError`, `RelativeError`, `Lossless`, `Rmse`, `BitsPerReading` or `Paper`.
    max_error, relative_error, rmse, bits_per_reading
        The target as a keyword, if it is not given as an object; see `Encoder`.
    time : array (n_samples,) of integers or of datetime64, optional
        When samples were taken; of a table, its index is taken instead.
    **settings
        Further parameters of `Encoder`.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.compression import MaxError, compress, decompress
    >>> readings = 20.0 + np.cumsum(np.full((1000, 4), 0.01), axis=0)
    >>> packed = compress(readings, MaxError(0.05))
    >>> bool(np.abs(decompress(packed) - readings).max() <= 0.05), len(packed) < 0.03 * readings.nbytes
    (True, True)
    """
    if hasattr(readings, "iloc"):
        from orthostream.compression.tables.pandas_table import table_to_arrays

        if time is not None:
            raise ValueError("the times of a table are its index; leave time out.")
        values, times, schema = table_to_arrays(readings)
    else:
        values, times, schema = _array_parts(readings, time)
    file = io.BytesIO()
    keywords = {
        "max_error": max_error,
        "relative_error": relative_error,
        "rmse": rmse,
        "bits_per_reading": bits_per_reading,
    }
    with OstWriter(file, schema, target, **keywords, **settings) as writer:
        for start in range(0, len(values), _ROWS):
            part = slice(start, start + _ROWS)
            writer.write(values[part], None if times is None else times[part])
    return file.getvalue()


def decompress(data: bytes) -> Any:
    """Return what `compress` was given, within its error: an array, or a table with its names, index and types.

    The times of an array are not returned; `OstReader` has them.
    """
    reader = OstReader(io.BytesIO(data))
    parts = list(reader)
    if not reader.complete:
        raise FrameError("the bytes end too early; OstReader reads what there is")
    n_sensors = len(reader.schema.columns)
    values = np.concatenate([np.empty((0, n_sensors)), *(part.values for part in parts)])
    times = None
    if reader.schema.time is not None:
        times = np.concatenate([np.empty(0, dtype=np.int64), *(part.times for part in parts if part.times is not None)])
    if reader.schema.kind != "array":
        from orthostream.compression.tables.pandas_table import arrays_to_table

        return arrays_to_table(values, times, reader.schema)
    return _typed(values, reader.schema)


def _array_parts(readings: ArrayLike, time: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.int64] | None, Schema]:
    if isinstance(readings, np.ma.MaskedArray):
        readings = np.ma.filled(readings.astype(np.float64), np.nan)
    values = np.asarray(readings)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"expected an array of shape (n_samples, n_sensors), got {values.shape}.")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"readings must be numbers, got {values.dtype}; convert them first (missing ones to NaN).")
    kind = str(values.dtype.newbyteorder("="))
    if kind not in TABLE_TYPES:
        raise ValueError(f"readings of type {kind} cannot be kept; convert them to float32 or float64.")
    schema = Schema.of(values.shape[1], kind)
    if time is None:
        return values, None, schema
    stamps = np.asarray(time)
    unit = ""
    if stamps.dtype.kind == "M":
        unit, count = np.datetime_data(stamps.dtype)
        if count != 1 or unit not in ("ns", "us", "ms", "s"):
            unit = "ns" if unit in ("ns", "us", "ms", "ps", "fs", "as") else "s"
            stamps = stamps.astype(f"datetime64[{unit}]")
        if np.isnat(stamps).any():
            raise ValueError("time must be known for every sample, got NaT.")
        stamps = stamps.astype(np.int64)
    if stamps.shape != (len(values),):
        raise ValueError(f"time must be {len(values)} integers, one for each sample, got shape {stamps.shape}.")
    return values, stamps, replace(schema, time=TimeAxis("time", unit))


def _typed(values: NDArray[np.float64], schema: Schema) -> NDArray[Any]:
    kinds = {column.dtype for column in schema.columns}
    if len(kinds) > 1:
        return values
    return typed(values, kinds.pop())
