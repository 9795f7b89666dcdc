"""Find the folder of a data set that users download themselves, and read its tables."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray

_VARIABLE = "ORTHOSTREAM_DATA"
_NUMBER = re.compile(r"[-+]?\d{1,20}(\.\d*)?([eE][-+]?\d{1,2})?", re.ASCII)


class DataFolderError(ValueError):
    """Raised when a data set is missing, incomplete or damaged.

    The message is one line: which file, what is wrong with it, and what to do.

    Examples
    --------
    >>> from orthostream.datasets import load_airly
    >>> load_airly("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orthostream.datasets.data_folder.DataFolderError: no/such/folder is not a folder. Download ...
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def find_folder(folder: str | os.PathLike[str] | None, name: str, remedy: str) -> Path:
    """Return the sub-folder ``name`` of a folder if there is one, otherwise the folder itself.

    Parameters
    ----------
    folder : path or None
        None means the environment variable ORTHOSTREAM_DATA.
    name : str
    remedy : str
        What a user should do if the folder does not exist; the end of the message.
    """
    given = os.environ.get(_VARIABLE) if folder is None else folder
    if not given:
        raise DataFolderError(f"No folder is given: pass folder= or set the environment variable {_VARIABLE}. {remedy}")
    path = Path(given)
    if (path / name).is_dir():
        return path / name
    if not path.is_dir():
        named = f", named by {_VARIABLE}," if folder is None else ""
        raise DataFolderError(f"{path}{named} is not a folder. {remedy}")
    return path


def read_table(path: Path, remedy: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file, all of the same width."""
    if not path.is_file():
        raise DataFolderError(f"{path.name} is not in {path.parent}. {remedy}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if "\0" in text:
            raise ValueError("it contains zero bytes")
        table = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise DataFolderError(f"{path} cannot be read as CSV: {error}. {remedy}") from error
    if not table:
        raise DataFolderError(f"{path} is empty. {remedy}")
    header, rows = table[0], table[1:]
    # Rows are counted as a spreadsheet does: the header is row 1.
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            cells = f"{len(row)} cells instead of {len(header)}"
            raise DataFolderError(f"{path}, row {number}: {cells}; the file is cut short or damaged. {remedy}")
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise DataFolderError(f"{path}: the column {twice!r} occurs twice. {remedy}")
    return header, rows


def read_numbers(path: Path, columns: Sequence[str], cells: Sequence[Sequence[str]], remedy: str) -> FloatArray:
    """Return the cells of some columns as numbers, NaN where a cell is empty."""
    # Convert each distinct text once: a year has half a million readings but only a few hundred distinct ones.
    numbers = {text: float(text) for text in set().union(*cells) if _NUMBER.fullmatch(text)} | {"": np.nan}
    for number, row in enumerate(cells, start=2):
        for column, text in zip(columns, row, strict=True):
            if text not in numbers:
                place = f"{path}, row {number}, column {column!r}"
                raise DataFolderError(f"{place}: {text[:40]!r} is not a number. {remedy}")
    return np.array([[numbers[text] for text in row] for row in cells]).reshape(len(cells), len(columns))
