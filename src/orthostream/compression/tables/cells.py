"""Cells of a block of lines, found without looking at one after another."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from orthostream._typing import BoolArray, ByteArray, FloatArray, IntArray
from orthostream.compression.tables.decimals import parse_decimals
from orthostream.compression.tables.digits import first_rounded
from orthostream.compression.tables.numbers import TRUTH, parse_number
from orthostream.compression.tables.time_pattern import Texts

_LINE_FEED, _SPACE = ord("\n"), ord(" ")
# Decimals with too many digits for the bulk path; integers are left to a closer look, as they may be too large.
_LONG_DECIMALS = re.compile(rb"(?:[-+]?\d*\.\d+(?:[eE][-+]?\d+)? )*", re.ASCII)
_MOST_WORDS = 65_536
# Cells of a block checked for lost digits: this many first ones, this many longest ones.
_LIKELY = 128


class CellError(ValueError):
    """The place of a cell that is not what it should be, and why."""

    def __init__(self, row: int, column: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.column = column
        self.reason = reason


class CellGrid:
    r"""Where the cells of a block begin and end; `find` makes one if all lines have as many cells as they should.

    >>> grid = CellGrid.find(b"1,2\n3,\n", ",", 2)
    >>> grid.starts.tolist(), grid.ends.tolist()
    ([[0, 2], [4, 6]], [[1, 3], [5, 6]])
    >>> CellGrid.find(b"1,2\n3\n", ",", 2) is None
    True
    """

    def __init__(self, block: bytes, text: ByteArray, starts: IntArray, ends: IntArray) -> None:
        self.block = block
        self.text = text
        self.starts = starts
        self.ends = ends
        #: Row and column of the first number whose last digits are not kept.
        self.rounded: tuple[int, int] | None = None

    @classmethod
    def find(cls, block: bytes, delimiter: str, n_cells: int) -> CellGrid | None:
        if b'"' in block:
            return None
        text = np.frombuffer(block, dtype=np.uint8)
        separator = ord(delimiter)
        found = np.flatnonzero((text == separator) | (text == _LINE_FEED))
        if found.size % n_cells:
            return None
        ends: IntArray = found.reshape(-1, n_cells)
        marks = text[ends]
        if (marks[:, -1] != _LINE_FEED).any() or (marks[:, :-1] != separator).any():
            return None
        starts = np.empty_like(ends)
        starts.flat[0] = 0
        starts.flat[1:] = ends.flat[:-1] + 1
        if b" " in block:
            _trim(text, starts, ends)
        return cls(block, text, starts, ends)

    def texts(self, column: int) -> Texts:
        """Return the cells of a column side by side."""
        starts, ends = self.starts[:, column], self.ends[:, column]
        widths = ends - starts
        width = int(widths.max(initial=0))
        if width and (widths == width).all():
            texts: Texts = self.text[starts[:, None] + np.arange(width)].view(f"S{width}")[:, 0]
            return texts
        return np.array(
            [self.block[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)] or [b""]
        )

    def numbers(self, columns: Sequence[int], truths: Sequence[bool], point: str) -> FloatArray:
        """Return the numbers of some columns; CellError if one is none."""
        starts, ends = self.starts[:, columns], self.ends[:, columns]
        numbers, odd = parse_decimals(self.text, starts, ends, ord(point))
        for place in np.flatnonzero(odd.any(axis=0)).tolist():
            rows = np.flatnonzero(odd[:, place])
            spans = zip(starts[rows, place].tolist(), ends[rows, place].tolist(), strict=True)
            cells = [self.block[start:end] for start, end in spans]
            numbers[rows, place] = _odd_numbers(cells, rows, place, truths[place], point)
        self.rounded = self._first_rounded(starts, ends, odd)
        return numbers

    def _first_rounded(self, starts: IntArray, ends: IntArray, odd: BoolArray) -> tuple[int, int] | None:
        """Return row and column of the first number whose last digits are not kept, if that is one of the likely ones.

        Numbers with few digits are not odd. Where many are, a table of doubles for example, looking at all of them
        would take as long as reading them: only the first and the longest are looked at.
        """
        places = np.flatnonzero(odd)
        if places.size > 2 * _LIKELY:
            lengths = (ends - starts).ravel()[places]
            longest = np.argpartition(lengths, -_LIKELY)[-_LIKELY:]
            places = places[np.union1d(np.arange(_LIKELY), longest)]
        spans = zip(starts.ravel()[places].tolist(), ends.ravel()[places].tolist(), strict=True)
        found = first_rounded([self.block[start:end] for start, end in spans])
        return None if found is None else divmod(int(places[found]), odd.shape[1])


def numbers_of(
    cells: Sequence[str], rows: Sequence[int] | IntArray, column: int, truth: bool, point: str
) -> list[float]:
    """Return the numbers of cells that stand in some rows of a column; CellError if one is none."""
    known: dict[str, float] = dict(TRUTH) if truth else {}
    numbers = []
    for row, cell in zip(rows, cells, strict=True):
        number = known.get(cell)
        if number is None:
            try:
                number = parse_number(cell, point)
            except ValueError as error:
                raise CellError(int(row), column, str(error)) from error
            if len(known) < _MOST_WORDS:
                known[cell] = number
        numbers.append(number)
    return numbers


def _odd_numbers(cells: list[bytes], rows: IntArray, column: int, truth: bool, point: str) -> list[float] | FloatArray:
    if point == "." and _LONG_DECIMALS.fullmatch(b" ".join([*cells, b""])):
        numbers = np.array(list(map(float, cells)))
        if np.isfinite(numbers).all():
            return numbers
    return numbers_of([cell.decode() for cell in cells], rows, column, truth, point)


def _trim(text: ByteArray, starts: IntArray, ends: IntArray) -> None:
    """Move starts and ends past spaces."""
    while (leading := (text[starts] == _SPACE) & (starts < ends)).any():
        starts += leading
    while (trailing := (text[ends - 1] == _SPACE) & (starts < ends)).any():
        ends -= trailing
