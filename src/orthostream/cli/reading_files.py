"""Readings as text or Parquet: one line for each reading, or one for each time."""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from orthostream.cli.errors import UserError

if TYPE_CHECKING:
    from orthostream._typing import FloatArray, IntArray
    from orthostream.compression.schema import Schema
    from orthostream.link.store import Chunk

FORMATS = ("csv", "parquet", "json", "jsonl")
_ROWS_IN_A_GROUP = 250_000


class ReadingWriter(ABC):
    """Writes readings to a file, chunk by chunk."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @abstractmethod
    def write(self, chunk: Chunk) -> None:
        """Write the readings of a chunk."""

    def close(self) -> None:
        """Write what is left."""
        self._file.flush()

    def abandon(self) -> None:  # noqa: B027 - text needs no end
        """Stop; the file is incomplete and must be discarded."""


def reading_writer(file: BinaryIO, kind: str, units: Collection[str]) -> ReadingWriter:
    """Return a writer of a format, for streams with some units of time."""
    if kind == "csv":
        return CsvReadings(file)
    return ParquetReadings(file, units) if kind == "parquet" else JsonReadings(file)


class CsvReadings(ReadingWriter):
    """Comma-separated text: time, edge, sensor, unit, value."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        file.write(b"time,edge,sensor,unit,value\n")

    def write(self, chunk: Chunk) -> None:
        from orthostream.link.iso_times import iso_times

        names = io.StringIO()
        csv.writer(names, lineterminator="").writerow([chunk.edge, chunk.sensor, chunk.unit])
        middle = f",{names.getvalue()},"
        pairs = zip(iso_times(chunk.times, chunk.time_unit), chunk.values.tolist(), strict=True)
        self._file.write("".join([f"{time}{middle}{value!r}\n" for time, value in pairs]).encode())


class JsonReadings(ReadingWriter):
    """An object of JSON on each line: time, edge, sensor, unit, value."""

    def write(self, chunk: Chunk) -> None:
        from orthostream.link.iso_times import json_number, json_times

        middle = json.dumps({"edge": chunk.edge, "sensor": chunk.sensor, "unit": chunk.unit}, ensure_ascii=False)[1:-1]
        pairs = zip(json_times(chunk.times, chunk.time_unit), chunk.values.tolist(), strict=True)
        lines = [f'{{"time": {time}, {middle}, "value": {json_number(value)}}}\n' for time, value in pairs]
        self._file.write("".join(lines).encode())


class WideJson:
    """An object of JSON for each time: its time, and the readings that there are."""

    def __init__(self, file: BinaryIO, schema: Schema) -> None:
        assert schema.time is not None
        self._file = file
        self._unit = schema.time.unit
        self._time = json.dumps(schema.time.name)
        self._names = [json.dumps(column.name, ensure_ascii=False) for column in schema.columns]

    def write(self, rows: FloatArray, times: IntArray | None) -> None:
        """Write some rows."""
        from orthostream.link.iso_times import json_number, json_times

        assert times is not None
        lines = []
        for time, row in zip(json_times(times, self._unit), rows.tolist(), strict=True):
            cells = [f"{name}: {json_number(x)}" for name, x in zip(self._names, row, strict=True) if x == x]
            lines.append("{" + ", ".join([f"{self._time}: {time}", *cells]) + "}\n")
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        """Hand everything on to the file."""
        self._file.flush()

    def abandon(self) -> None:
        """Stop; the file is incomplete and must be discarded."""


class ParquetReadings(ReadingWriter):
    """Parquet with the columns time, edge, sensor, unit, value.

    Parameters
    ----------
    file : binary file, left open
    units : collection of str
        Of the times of all streams: dates get the finest of them.
    """

    def __init__(self, file: BinaryIO, units: Collection[str]) -> None:
        from orthostream.compression.tables.parquet_types import import_pyarrow
        from orthostream.link.iso_times import TICKS_OF_DATES

        super().__init__(file)
        self._arrow = import_pyarrow()
        dated = [unit for unit in TICKS_OF_DATES if unit in units]
        if len(set(units) - set(dated)) > (0 if dated else 1):
            raise UserError("a Parquet file has one kind of times, and these edges have several; choose with --edge")
        self._unit = dated[0] if dated or not units else ""
        kind = self._arrow.timestamp(self._unit, "UTC") if self._unit else self._arrow.int64()
        name = self._arrow.dictionary(self._arrow.int32(), self._arrow.string())
        self._schema = self._arrow.schema(
            [
                self._arrow.field("time", kind, nullable=False),
                *(self._arrow.field(each, name, nullable=False) for each in ("edge", "sensor", "unit")),
                self._arrow.field("value", self._arrow.float64(), nullable=False),
            ]
        )
        self._writer = self._arrow.parquet.ParquetWriter(file, self._schema)
        self._batches: list[Any] = []
        self._kept = 0

    def write(self, chunk: Chunk) -> None:
        import numpy as np

        place = np.zeros(len(chunk.times), dtype=np.int32)
        names = [
            self._arrow.DictionaryArray.from_arrays(place, [name]) for name in (chunk.edge, chunk.sensor, chunk.unit)
        ]
        times = self._arrow.array(self._times(chunk)).cast(self._schema.field("time").type)
        arrays = [times, *names, self._arrow.array(chunk.values)]
        self._batches.append(self._arrow.record_batch(arrays, schema=self._schema))
        self._kept += len(place)
        if self._kept >= _ROWS_IN_A_GROUP:
            self._flush()

    def _times(self, chunk: Chunk) -> IntArray:
        from orthostream.link.iso_times import TICKS_OF_DATES

        if not self._unit or chunk.time_unit == self._unit:
            return chunk.times
        factor = TICKS_OF_DATES[self._unit] // TICKS_OF_DATES[chunk.time_unit]
        most = (2**63 - 1) // factor
        if ((chunk.times > most) | (chunk.times < -most)).any():
            raise UserError(
                f"a time of {chunk.edge} does not fit into ticks of 1 {self._unit}, which another edge has;"
                " choose one with --edge, or write CSV"
            )
        return chunk.times * factor

    def _flush(self) -> None:
        if self._batches:
            table = self._arrow.Table.from_batches(self._batches, self._schema).unify_dictionaries()
            self._writer.write_table(table)
        self._batches, self._kept = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        # Left open, it would write its end when it is garbage collected, to a file that may be closed by then.
        with suppress(OSError, ValueError):
            self._writer.close()
        self._writer.is_open = False
