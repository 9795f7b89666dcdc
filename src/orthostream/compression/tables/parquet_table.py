"""Reading a Parquet file as a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Column, Schema, TimeAxis
from orthostream.compression.tables.csv_layout import check_names, unit_of
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.numbers import LARGEST_INTEGER
from orthostream.compression.tables.parquet_types import (
    UNIT_KEY,
    column_dtype,
    import_pyarrow,
    number_axis,
    time_axis,
)
from orthostream.compression.tables.selection import select
from orthostream.compression.tables.time_order import TimeOrder
from orthostream.compression.tables.times import TIME_NAMES

_READINGS_AT_ONCE = 200_000


class ParquetTable:
    """A Parquet file, read from front to back, some rows at a time; needs pyarrow.

    Iteration yields (rows, times), as that of `CsvTable` does.

    Parameters
    ----------
    source : path or binary file that can seek
    time, columns, units, any_order, name : as for `CsvTable`
        Times are by default in the first column of timestamps or dates.

    Raises
    ------
    TableError
        On construction or during iteration: with the number of the row, from 1 on, and what to do.

    Examples
    --------
    >>> for rows, times in ParquetTable("readings.parquet"):  # doctest: +SKIP
    ...     print(rows.shape, times)
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        *,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
        any_order: bool = False,
        name: str | None = None,
    ) -> None:
        self._arrow = import_pyarrow()
        is_path = isinstance(source, (str, os.PathLike))
        self._name = name or (str(source) if is_path else "the table")
        try:
            self._file = self._arrow.parquet.ParquetFile(str(source) if is_path else source)
        except self._arrow.ArrowException as error:
            raise TableError(f"{self._name} is not a Parquet file that can be read: {_first_line(error)}") from error
        try:
            self._choose(time, columns, units or {})
        except BaseException:
            self.close()
            raise
        self._order = TimeOrder() if self.schema.time is not None and not any_order else None
        #: Rows read so far, and those there are.
        self.rows_read = 0
        self.n_rows: int = self._file.metadata.num_rows
        #: Bytes of the file.
        self.n_bytes = Path(source).stat().st_size if isinstance(source, (str, os.PathLike)) else source.seek(0, 2)
        if not self.n_rows:
            self.close()
            raise TableError(f"{self._name} has no rows; nothing to read")

    def __iter__(self) -> Iterator[tuple[FloatArray, IntArray | None]]:
        names = [column.name for column in self.schema.columns]
        axis = self.schema.time
        size = max(1, _READINGS_AT_ONCE // max(1, len(names)))
        wanted = names if axis is None else [axis.name, *names]
        try:
            for batch in self._file.iter_batches(batch_size=size, columns=wanted):
                rows = np.empty((batch.num_rows, len(names)))
                for place, name in enumerate(names):
                    rows[:, place] = self._numbers(batch.column(name), name)
                times = None if axis is None else self._times(batch.column(axis.name), axis)
                self.rows_read += batch.num_rows
                if batch.num_rows:
                    yield rows, times
        except self._arrow.ArrowException as error:
            raise TableError(f"{self._name} cannot be read to its end: {_first_line(error)}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _choose(self, time: str | None, columns: Sequence[str] | None, units: Mapping[str, str]) -> None:
        fields = list(self._file.schema_arrow)
        names = [field.name for field in fields]
        check_names(names, self._name)
        axis = self._find_time(fields, time, columns or ())
        wanted = [name for name in names if axis is None or name != axis.name] if columns is None else columns
        select(names, list(units), self._name)
        chosen = []
        for place in select(names, wanted, self._name):
            field = fields[place]
            dtype = column_dtype(field.type, self._has_nulls(field.name))
            if dtype is None:
                raise TableError(
                    f"{self._name}: column {field.name!r} is of type {field.type} and holds no numbers; "
                    "choose columns without it"
                )
            unit = (field.metadata or {}).get(UNIT_KEY, b"").decode(errors="replace") or unit_of(field.name)
            chosen.append(Column(field.name, units.get(field.name, unit), dtype))
        self.schema = Schema(columns=tuple(chosen), time=axis)

    def _find_time(self, fields: list[Any], time: str | None, columns: Sequence[str]) -> TimeAxis | None:
        if time is not None:
            field = fields[select([field.name for field in fields], [time], self._name)[0]]
            axis = time_axis(time, field.type) or number_axis(time, field.type)
            if axis is None:
                raise TableError(f"{self._name}: column {time!r} is of type {field.type} and holds no times")
            return axis
        free = [field for field in fields if field.name not in columns]
        found = [axis for field in free if (axis := time_axis(field.name, field.type))]
        found += [axis for f in free if f.name.lower() in TIME_NAMES and (axis := number_axis(f.name, f.type))]
        return found[0] if found else None

    def _has_nulls(self, name: str) -> bool:
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            parts = metadata.row_group(group)
            for place in range(parts.num_columns):
                part = parts.column(place)
                if part.path_in_schema == name and not (
                    part.is_stats_set and part.statistics.has_null_count and part.statistics.null_count == 0
                ):
                    return True
        return False

    def _numbers(self, values: Any, name: str) -> FloatArray:
        arrow = self._arrow
        if arrow.types.is_boolean(values.type):
            values = values.cast(arrow.int8())
        numbers: FloatArray = values.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        if arrow.types.is_integer(values.type) and values.type.bit_width == 64:
            large = np.flatnonzero(np.abs(numbers) >= LARGEST_INTEGER)
            for place in large.tolist():
                if int(numbers[place]) != values[place].as_py():
                    raise TableError(
                        f"{self._name}, row {self.rows_read + place + 1}, column {name!r}: {values[place].as_py()} is "
                        "an integer beyond 2**53, which a reading cannot hold exactly; choose columns without it"
                    )
        return numbers

    def _times(self, values: Any, axis: TimeAxis) -> IntArray:
        arrow = self._arrow
        if values.null_count:
            place = int(np.flatnonzero(np.asarray(values.is_null()))[0])
            raise TableError(f"{self._name}, row {self.rows_read + place + 1}: the time is missing; leave the row out")
        if arrow.types.is_decimal(values.type):
            scale = values.type.scale
            ticks: IntArray = np.array([int(value.scaleb(scale)) for value in values.to_pylist()], dtype=np.int64)
        else:
            if arrow.types.is_date(values.type):
                values = values.cast(arrow.timestamp(axis.unit))
            ticks = values.cast(arrow.int64()).to_numpy(zero_copy_only=False)
        if self._order is not None:
            wrong = self._order.first_wrong(ticks)
            if wrong is not None:
                why = self._order.explain(ticks, wrong, axis)
                raise TableError(f"{self._name}, row {self.rows_read + wrong + 1}: {why}")
            self._order.accept(ticks)
        return ticks


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
