"""Reuters-21578: eight months of newswire stories with topics, as a stream of documents."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from orthostream.datasets.data_folder import DataFolderError, find_folder

_FILE = "reuters_parsed.csv.gz"
_COLUMNS = ["newid", "date", "lewissplit", "topics_attr", "topics", "title", "body", "dt"]
_ID = re.compile(r"\d{1,9}", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}", re.ASCII)
_REMEDY = (
    "Reuters-21578 is distributed by David D. Lewis for research "
    "(https://www.daviddlewis.com/resources/testcollections/reuters21578): "
    f"write its documents to {_FILE}, a CSV file in UTF-8 compressed by gzip, one row for each document, with the "
    f'columns {", ".join(_COLUMNS)}; topics are separated by "|", and dt is the date as 1987-02-26 15:01:01.'
)


def load_reuters(folder: str | os.PathLike[str] | None = None, single_topic: bool = True) -> Bunch:
    """Load the stories of Reuters-21578 in the order of time, February to October 1987.

    The data set is not part of this package: it is distributed by David D. Lewis for research.

    Parameters
    ----------
    folder : path, optional
        The folder with ``reuters_parsed.csv.gz``, or one whose sub-folder ``reuters`` has it. By default, the folder
        in the environment variable ORTHOSTREAM_DATA.
    single_topic : bool, default True
        Whether to keep only the documents with exactly one topic.

    Returns
    -------
    Bunch
        ``ids`` (integers), ``titles`` and ``texts`` (lists of str; a text is the title, a new line and the body),
        ``topics`` (array of str; with ``single_topic=False``, a list of tuples), ``dates`` (datetime64[s]), all sorted
        by date, then by id. ``n_undated`` is the number of documents that were left out because their date is missing
        or wrong.

    Raises
    ------
    DataFolderError
        If there is no such folder, or its file is not as described.

    Examples
    --------
    >>> reuters = load_reuters("path/to/reuters")  # doctest: +SKIP
    >>> len(reuters.texts), reuters.topics[:3].tolist(), reuters.n_undated  # doctest: +SKIP
    (9493, ['cocoa', 'earn', 'acq'], 1)
    """
    path = find_folder(folder, "reuters", _REMEDY) / _FILE
    rows = _documents(path)
    topics = [tuple(filter(None, row["topics"].split("|"))) for row in rows]
    chosen = [number for number in range(len(rows)) if not single_topic or len(topics[number]) == 1]
    dates = np.array([_date(rows[number]["dt"]) for number in chosen], dtype="datetime64[s]")
    ids = np.array([int(rows[number]["newid"]) for number in chosen], dtype=np.int64)
    dated = np.flatnonzero(~np.isnat(dates))
    order = dated[np.lexsort((ids[dated], dates[dated]))]
    sorted_rows = [rows[chosen[place]] for place in order]
    sorted_topics = [topics[chosen[place]] for place in order]
    return Bunch(
        ids=ids[order],
        titles=[row["title"].strip() for row in sorted_rows],
        texts=[f"{row['title'].strip()}\n{row['body']}" for row in sorted_rows],
        topics=np.array([topic for (topic,) in sorted_topics], dtype=str) if single_topic else sorted_topics,
        dates=dates[order],
        n_undated=len(chosen) - len(order),
    )


def _documents(path: Path) -> list[dict[str, str]]:
    """Return one mapping from column to cell for each document."""
    table = _table(path)
    if not table or table[0] != _COLUMNS:
        found = ", ".join(table[0])[:80] if table else "no row"
        raise DataFolderError(f"{path} does not have the columns that it should, but {found}. {_REMEDY}")
    if len(table) == 1:
        raise DataFolderError(f"{path} has no documents. {_REMEDY}")
    # Rows are counted as a spreadsheet does: the header is row 1.
    for number, row in enumerate(table[1:], start=2):
        if len(row) != len(_COLUMNS):
            cells = f"{len(row)} cells instead of {len(_COLUMNS)}"
            raise DataFolderError(f"{path}, row {number}: {cells}; the file is cut short or damaged. {_REMEDY}")
        if not _ID.fullmatch(row[0]):
            raise DataFolderError(f"{path}, row {number}, column 'newid': {row[0][:40]!r} is not a number. {_REMEDY}")
    return [dict(zip(_COLUMNS, row, strict=True)) for row in table[1:]]


def _table(path: Path) -> list[list[str]]:
    if not path.is_file():
        raise DataFolderError(f"{path.name} is not in {path.parent}. {_REMEDY}")
    try:
        plain = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataFolderError(f"{path} cannot be read as a gzip file: {error}. {_REMEDY}") from error
    try:
        text = plain.decode("utf-8-sig")
        return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (ValueError, csv.Error) as error:
        raise DataFolderError(f"{path} cannot be read as CSV: {error}. {_REMEDY}") from error


def _date(text: str) -> np.datetime64:
    """Return the date, or NaT if the text is not one."""
    if not _DATE.fullmatch(text):
        return np.datetime64("NaT", "s")
    try:
        return np.datetime64(text.replace(" ", "T"), "s")
    except ValueError:
        return np.datetime64("NaT", "s")
