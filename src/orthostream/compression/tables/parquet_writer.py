"""Writing a Parquet file as a stream."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any, BinaryIO

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Schema
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.parquet_types import UNIT_KEY, arrow_type, import_pyarrow, time_type

_READINGS_IN_A_GROUP = 1_000_000


class TypeMismatchError(TableError):
    """A reading that the type of its column cannot hold; `column` has the name."""

    def __init__(self, column: str, value: float, dtype: str) -> None:
        text = f"column {column!r}: {value!r} does not fit its type {dtype}; write it as float64"
        super().__init__(text, names_table=False)
        self.column = column


class ParquetWriter:
    """Writes readings with their types, times as timestamps, missing readings as nulls; needs pyarrow.

    Parameters
    ----------
    file : binary file, left open
    schema : of the readings

    Examples
    --------
    >>> import io
    >>> from orthostream.compression.schema import Column
    >>> file = io.BytesIO()
    >>> writer = ParquetWriter(file, Schema(columns=(Column("a", "m", "int16"),), time=None))
    >>> writer.write(np.array([[1.0], [np.nan]]), None)
    >>> writer.close()
    >>> import_pyarrow().parquet.read_table(file).to_pydict()
    {'a': [1, None]}
    """

    def __init__(self, file: BinaryIO, schema: Schema) -> None:
        self._arrow = import_pyarrow()
        self._schema = schema
        fields = [
            self._arrow.field(
                column.name,
                arrow_type(column.dtype),
                metadata={UNIT_KEY: column.unit.encode()} if column.unit else None,
            )
            for column in schema.columns
        ]
        if schema.time is not None:
            fields.insert(0, self._arrow.field(schema.time.name, time_type(schema.time), nullable=False))
        self._arrow_schema = self._arrow.schema(fields)
        self._writer = self._arrow.parquet.ParquetWriter(file, self._arrow_schema)
        self._batches: list[Any] = []
        self._kept = 0

    def write(self, rows: FloatArray, times: IntArray | None) -> None:
        """Write some rows; TypeMismatchError if one does not fit the type of its column."""
        arrays = [
            self._column(rows[:, place], column.name, column.dtype) for place, column in enumerate(self._schema.columns)
        ]
        if times is not None:
            arrays.insert(0, self._times(times))
        self._batches.append(self._arrow.record_batch(arrays, schema=self._arrow_schema))
        self._kept += rows.size
        if self._kept >= _READINGS_IN_A_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Stop; the file is incomplete and must be discarded."""
        self._batches = []
        # Left open, it would write its end when it is garbage collected, to a file that may be closed by then.
        with suppress(OSError, ValueError):
            self._writer.close()
        self._writer.is_open = False

    def _flush(self) -> None:
        if self._batches:
            self._writer.write_table(self._arrow.Table.from_batches(self._batches, self._arrow_schema))
        self._batches, self._kept = [], 0

    def _column(self, values: FloatArray, name: str, dtype: str) -> Any:
        missing = np.isnan(values)
        target = np.dtype("bool" if dtype == "boolean" else dtype.lower())
        with np.errstate(all="ignore"):
            held = np.where(missing, 0.0, values).astype(target)
            wrong = np.flatnonzero((held.astype(np.float64) != values) & ~missing)
        if wrong.size:
            raise TypeMismatchError(name, float(values[wrong[0]]), dtype)
        return self._arrow.array(held, mask=missing)

    def _times(self, times: IntArray) -> Any:
        assert self._schema.time is not None
        kind = time_type(self._schema.time)
        arrow = self._arrow
        if arrow.types.is_date(kind):
            return arrow.array(times // 86_400).cast(arrow.int32()).cast(kind)
        if arrow.types.is_decimal(kind):
            return arrow.array([Decimal(tick).scaleb(-kind.scale) for tick in times.tolist()], type=kind)
        return arrow.array(times).cast(kind)
