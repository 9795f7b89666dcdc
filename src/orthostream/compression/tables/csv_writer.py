"""Writing a CSV file as a stream."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import BinaryIO

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Schema
from orthostream.compression.tables.number_texts import NumberTexts
from orthostream.compression.tables.times import time_texts

_ROWS_AT_ONCE = 4_096


class CsvWriter:
    r"""Writes readings as comma-separated text: the shortest that reads as the same numbers.

    Parameters
    ----------
    file : binary file, left open
    schema : of the readings

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.compression.schema import Column
    >>> file = io.BytesIO()
    >>> writer = CsvWriter(file, Schema(columns=(Column("a"), Column("b", dtype="int64")), time=None))
    >>> writer.write(np.array([[0.5, 2.0], [np.nan, 3.0]]), None)
    >>> file.getvalue()
    b'a,b\n0.5,2\n,3\n'
    """

    def __init__(self, file: BinaryIO, schema: Schema) -> None:
        self._file = file
        self._schema = schema
        names = [column.name for column in schema.columns]
        file.write(_line([schema.time.name, *names] if schema.time is not None else names))
        # A line with nothing in it would be taken for no line.
        missing = "nan" if len(names) == 1 and schema.time is None else ""
        self._texts = {dtype: NumberTexts(dtype, missing) for dtype in {column.dtype for column in schema.columns}}

    def write(self, rows: FloatArray, times: IntArray | None) -> None:
        """Write some rows."""
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            self._write(rows[part], None if times is None else times[part])

    def close(self) -> None:
        """Hand everything on to the file."""
        self._file.flush()

    def abandon(self) -> None:
        """Stop; the file is incomplete and must be discarded."""

    def _write(self, rows: FloatArray, times: IntArray | None) -> None:
        columns = [self._texts[column.dtype](rows[:, place]) for place, column in enumerate(self._schema.columns)]
        if self._schema.time is not None and times is not None:
            moments = time_texts(times, self._schema.time)
            columns.insert(0, [_quoted(text) for text in moments] if "," in self._schema.time.text else moments)
        lines = "\n".join(map(",".join, zip(*columns, strict=True)))
        self._file.write(lines.encode() + b"\n")


def _quoted(text: str) -> str:
    return f'"{text}"'


def _line(cells: Sequence[str]) -> bytes:
    # A name with a semicolon or a tab in it must not be taken for two.
    ambiguous = any(mark in cell for cell in cells for mark in ";\t")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if ambiguous else csv.QUOTE_MINIMAL).writerow(cells)
    return text.getvalue().encode()
