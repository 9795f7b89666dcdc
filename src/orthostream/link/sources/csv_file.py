"""A CSV file, from its first line to its last."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.tables import CsvTable, TableError
from orthostream.link.sources.same_file import HEAD, SAMPLES, FileMark, digest_of
from orthostream.link.sources.source import Samples, Source, as_floats, samples_at_once

_log = logging.getLogger(__name__)


class CsvFileSource(Source):
    """The samples of a CSV file.

    A mark is the number of samples that were read. A file that does not begin like the one of the mark is another one,
    and is read from its beginning.

    Parameters
    ----------
    path : path
    mark : str, optional
        Of the last samples that were taken.
    table : dict
        Further parameters of `CsvTable`.

    Raises
    ------
    TableError
        On construction or by `poll`: with the number of the line, and what to do.
    """

    def __init__(self, path: str | os.PathLike[str], *, mark: str | None = None, **table: Any) -> None:
        super().__init__()
        self.path = str(path)
        with Path(path).open("rb") as file:
            self._size = max(1, os.fstat(file.fileno()).st_size)
            found = FileMark.parse(mark)
            if found is not None and not found.is_of(file):
                _log.warning("%s is not the file that was read before: beginning with its first line", self.path)
                found = None
            if found is not None and found.unit != SAMPLES:
                raise TableError(f"{self.path} was followed as it grew before; go on with --follow")
            self._mark = found or FileMark(0, min(HEAD, self._size), digest_of(file, HEAD), SAMPLES)
        self._table = CsvTable(path, **table)
        if self._table.schema.time is None:
            self._table.close()
            raise TableError(f"{self.path} has no column of times; name it with --time")
        self.schema = as_floats(self._table.schema)
        self._pieces = self._read(self._mark.place)
        self._finished = False

    def poll(self, wait: float = 0.0) -> Samples | None:
        for readings, times in self._pieces:
            self._mark = self._mark._replace(place=self._mark.place + len(readings))
            return Samples(readings, times, self._mark.text)
        self._finished = True
        return None

    @property
    def is_finished(self) -> bool:
        return self._finished

    @property
    def share(self) -> float | None:
        return 1.0 if self._finished else min(1.0, self._table.bytes_read / self._size)

    def close(self) -> None:
        self._table.close()

    def _read(self, skip: int) -> Iterator[tuple[FloatArray, IntArray]]:
        at_once = samples_at_once(self.schema)
        for rows, times in self._table:
            assert times is not None
            skipped = min(skip, len(rows))
            skip -= skipped
            for start in range(skipped, len(rows), at_once):
                yield rows[start : start + at_once], times[start : start + at_once]
