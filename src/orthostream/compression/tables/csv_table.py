"""Reading a CSV file as a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Column, Schema
from orthostream.compression.tables.cells import CellError, CellGrid, numbers_of
from orthostream.compression.tables.csv_layout import check_names, guess_layout, split_line, unit_of
from orthostream.compression.tables.csv_lines import BLOCK_BYTES, LineBlock, LineBlocks
from orthostream.compression.tables.dates import MixedZonesError, TimeTextError
from orthostream.compression.tables.digits import RoundedCell, first_rounded
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.numbers import column_type
from orthostream.compression.tables.selection import select
from orthostream.compression.tables.time_order import TimeOrder
from orthostream.compression.tables.times import TimeColumn, guess_time

# Rows that tell how columns are written.
_SAMPLE = 2_000


class CsvTable:
    r"""A CSV file, read from front to back, a block of lines at a time.

    What separates cells, the decimal point, the header, the time column and the types of the columns are taken from
    the first 2,000 rows. Iteration yields (rows, times): float64 readings, NaN where one is missing, and int64 ticks
    of the time axis, or None for a table without a time column.

    Parameters
    ----------
    source : path or binary file
    time : str, optional
        Name of the time column. By default the first column of dates, or one of numbers that is called time,
        timestamp, epoch, t...
    columns : sequence of str, optional
        The columns to read, in this order; by default all but the time column.
    units : mapping from names to units, where they are not in the header as in ``temp [degC]``
    header : bool, optional
        Whether the first line has names; by default it has if there is text in it.
    time_pattern : str, optional
        How dates are written, such as ``%d/%m/%Y %H:%M``.
    time_unit : {"s", "ms", "us", "ns"}, optional
        Of the ticks of dates; by default what tells the first dates apart.
    any_order : bool
        Take times as they come. By default each must be later than the one before.
    name : str, optional
        What errors call the table; by default the name of the file.

    Attributes
    ----------
    schema : Schema
    rounded : RoundedCell or None
        The first cell found so far with more than 17 digits, the last of which a double does not keep.

    Raises
    ------
    TableError
        On construction or during iteration: with the number of the line, and what to do.

    Examples
    --------
    >>> import io
    >>> table = CsvTable(io.BytesIO(b"time,temp [degC]\n2017-01-01T00:00,12.5\n2017-01-01T01:00,\n"))
    >>> table.schema.columns[0].unit, table.schema.time.text
    ('degC', '%Y-%m-%dT%H:%M')
    >>> [(rows.tolist(), times.tolist()) for rows, times in table]
    [([[12.5], [nan]], [1483228800, 1483232400])]
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        *,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
        header: bool | None = None,
        time_pattern: str | None = None,
        time_unit: str | None = None,
        any_order: bool = False,
        name: str | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self._owned = ExitStack()
        self.rounded: RoundedCell | None = None
        if isinstance(source, (str, os.PathLike)):
            called: object = str(source)
            file: BinaryIO = self._owned.enter_context(Path(source).open("rb"))  # noqa: SIM115
        else:
            called = getattr(source, "name", None)
            file = source
        self._name = name or (called if isinstance(called, str) else "the table")
        self._blocks = LineBlocks(file, self._name, block_bytes)
        try:
            first, self._rest = self._first_block()
            self._first, rows = self._lay_out(first, header)
            self._choose(rows, time, columns, units or {}, time_pattern, time_unit)
        except BaseException:
            self.close()
            raise
        self._order = None if any_order or self._time is None else TimeOrder()

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the file so far."""
        return self._blocks.bytes_read

    def __iter__(self) -> Iterator[tuple[FloatArray, IntArray | None]]:
        for block in chain([self._first], self._rest):
            rows, times, lines = self._read(block)
            if self._order is not None and times is not None:
                self._check_order(times, lines)
            if len(rows):
                yield rows, times

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._owned.close()

    def _first_block(self) -> tuple[LineBlock, Iterator[LineBlock]]:
        """Return enough of the file to guess from, and what follows."""
        blocks = iter(self._blocks)
        text, line = b"", 1
        for block in blocks:
            # Blank lines before the header are of no use to anyone.
            skipped = len(block.text) - len(block.text.lstrip(b"\n")) if not text else 0
            line += skipped
            text += block.text[skipped:]
            if sum(map(bool, map(bytes.strip, text.split(b"\n", 100)))) >= 2:
                break
        if not text.strip():
            raise TableError(f"{self._name} is empty; a table has a header and at least one row")
        return LineBlock(text, line), blocks

    def _lay_out(self, block: LineBlock, header: bool | None) -> tuple[LineBlock, list[list[str]]]:
        """Guess the layout; return the block without its header, and its cells."""
        lines = block.text.decode().split("\n")[:-1]
        numbered = [(block.line + place, line) for place, line in enumerate(lines) if line.strip()]
        try:
            self._layout = guess_layout([line for _, line in numbered[:50]], header)
        except ValueError as error:
            raise TableError(f"{self._name}, line {block.line}: {error}") from error
        check_names(self._layout.names, f"{self._name}, line {block.line}")
        if self._layout.has_header:
            cut = block.text.index(b"\n") + 1
            block = LineBlock(block.text[cut:], block.line + 1)
            numbered = numbered[1:]
        self._first_line = numbered[0][0] if numbered else block.line
        if not numbered:
            raise TableError(f"{self._name}, line {block.line - 1}: a header and no rows; nothing to read")
        return block, [self._split(line, number) for number, line in numbered[:_SAMPLE]]

    def _choose(
        self,
        rows: list[list[str]],
        time: str | None,
        columns: Sequence[str] | None,
        units: Mapping[str, str],
        pattern: str | None,
        unit: str | None,
    ) -> None:
        """Choose the columns to read, and how."""
        names = self._layout.names
        found: TimeColumn | None = None
        select(names, [time] if time is not None else [], self._name)
        for place, name in enumerate(names):
            if found is not None or (time is not None and name != time) or (columns is not None and name in columns):
                continue
            texts = [row[place].strip() for row in rows]
            try:
                found = guess_time(name, texts, named=name == time, pattern=pattern, unit=unit)
            except ValueError as error:
                raise TableError(f"{self._name}, column {name!r}: {error}") from error
            self._time_place = place
        if time is not None and found is None:
            raise TableError(
                f"{self._name}: column {time!r} holds no times, but for example {rows[0][names.index(time)]!r}"
            )
        self._time = found
        wanted = [name for name in names if found is None or name != found.axis.name] if columns is None else columns
        self._places = select(names, wanted, self._name)
        select(names, list(units), self._name)
        types = [column_type([row[place] for row in rows]) for place in self._places]
        self._truths = [kind in ("bool", "boolean") for kind in types]
        self.schema = Schema(
            columns=tuple(
                Column(names[place], units.get(names[place], unit_of(names[place])), kind)
                for place, kind in zip(self._places, types, strict=True)
            ),
            time=found.axis if found is not None else None,
        )

    def _split(self, line: str, number: int) -> list[str]:
        try:
            cells = split_line(line, self._layout.delimiter) or [""]
        except ValueError as error:
            raise TableError(f"{self._name}, line {number}: {error}") from error
        if len(cells) != len(self._layout.names):
            count = f"{len(cells)} cell{'s' if len(cells) != 1 else ''}"
            raise TableError(
                f"{self._name}, line {number}: {count} where {len(self._layout.names)} are expected; "
                "fix the line, or leave it out"
            )
        return cells

    def _read(self, block: LineBlock) -> tuple[FloatArray, IntArray | None, Sequence[int]]:
        """Return readings, times, and the numbers of their lines."""
        grid = CellGrid.find(block.text, self._layout.delimiter, len(self._layout.names))
        if grid is None:
            return self._read_carefully(block)
        lines = range(block.line, block.line + len(grid.starts))
        times = None
        try:
            if self._time is not None:
                texts = grid.texts(self._time_place)
                times = self._time.parse(texts)
            numbers = grid.numbers(self._places, self._truths, self._layout.point)
        except TimeTextError as error:
            raise self._bad_time(texts[error.place].decode(), error, lines) from error
        except CellError as error:
            raise self._bad_cell(error, lines) from error
        if grid.rounded is not None:
            row, column = grid.rounded
            place = self._places[column]
            text = block.text[grid.starts[row, place] : grid.ends[row, place]].decode()
            self._note_rounded(lines[row], column, text)
        return numbers, times, lines

    def _note_rounded(self, line: int, column: int, text: str) -> None:
        found = RoundedCell(line, self._layout.names[self._places[column]], text)
        if self.rounded is None or line < self.rounded.line:
            self.rounded = found

    def _read_carefully(self, block: LineBlock) -> tuple[FloatArray, IntArray | None, Sequence[int]]:
        """Read a block with quotes, blank lines or something wrong in it."""
        single = len(self._layout.names) == 1
        numbered = [(block.line + place, line) for place, line in enumerate(block.text.decode().split("\n")[:-1])]
        numbered = [(number, line) for number, line in numbered if single or line.strip()]
        lines = [number for number, _ in numbered]
        cells = [self._split(line, number) for number, line in numbered]
        rows = np.empty((len(cells), len(self._places)))
        times = None
        try:
            if self._time is not None:
                texts = [row[self._time_place].strip() for row in cells]
                times = self._time.parse(np.array([text.encode() for text in texts] or [b""])[: len(texts)])
            for column, (place, truth) in enumerate(zip(self._places, self._truths, strict=True)):
                column_cells = [row[place].strip() for row in cells]
                rows[:, column] = numbers_of(column_cells, range(len(cells)), column, truth, self._layout.point)
                rounded = first_rounded([cell.encode() for cell in column_cells])
                if rounded is not None:
                    self._note_rounded(lines[rounded], column, column_cells[rounded])
        except TimeTextError as error:
            raise self._bad_time(texts[error.place], error, lines) from error
        except CellError as error:
            raise self._bad_cell(error, lines) from error
        return rows, times, lines

    def _bad_time(self, text: str, error: TimeTextError, lines: Sequence[int]) -> TableError:
        name = self._layout.names[self._time_place]
        what = f"{text[:40]!r} {error.reason}" if text else "the time is missing"
        where = f"{self._name}, line {lines[error.place]}, column {name!r}"
        if isinstance(error, MixedZonesError):
            return TableError(f"{where}: {what}, unlike the time in line {self._first_line}; write all times one way")
        return TableError(f"{where}: {what}; fix it, or leave the line out")

    def _bad_cell(self, error: CellError, lines: Sequence[int]) -> TableError:
        name = self._layout.names[self._places[error.column]]
        return TableError(
            f"{self._name}, line {lines[error.row]}, column {name!r}: {error.reason}; "
            "leave the cell empty if the reading is missing, or choose columns without text"
        )

    def _check_order(self, times: IntArray, lines: Sequence[int]) -> None:
        assert self._order is not None and self._time is not None
        wrong = self._order.first_wrong(times)
        if wrong is not None:
            raise TableError(f"{self._name}, line {lines[wrong]}: {self._order.explain(times, wrong, self._time.axis)}")
        self._order.accept(times)
