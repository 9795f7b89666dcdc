"""A CSV file that another program appends to."""

from __future__ import annotations

import io
import logging
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.tables import CsvTable, TableError
from orthostream.compression.tables.csv_lines import LineBlocks
from orthostream.link.sources.same_file import BYTES, HEAD, SAMPLES, FileMark, digest_of
from orthostream.link.sources.source import Samples, Source, as_floats

#: Bytes that are read at once, and the longest line.
_CHUNK = 1 << 18
#: Seconds between two looks at a file that is not there yet.
_LOOK = 0.2
_log = logging.getLogger(__name__)


class TailSource(Source):
    """The samples of a CSV file, and those that are appended to it, for ever.

    A line is read when its line feed is there. One that cannot be read is left out and counted, and times may go back:
    a clock that was set must not end the recording. A file that was replaced (rotation) is read to its end before the
    new one is begun; one that became shorter (truncation) is read from its beginning. A mark is a number of bytes.

    Parameters
    ----------
    path : path
    mark : str, optional
        Of the last samples that were taken.
    stop : Event, optional
        Ends the wait for a file that is not there, or has no row yet; `TableError` is raised then.
    table : dict
        Further parameters of `CsvTable`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mark: str | None = None,
        stop: threading.Event | None = None,
        **table: Any,
    ) -> None:
        super().__init__()
        self.path = str(path)
        self._stop = stop or threading.Event()
        found = FileMark.parse(mark)
        self._file, head = self._open(found)
        if found is not None and not self._goes_on(found):
            found = None
        try:
            self._lines = _reader_of(head, name=self.path, **table | {"any_order": True})
            if self._lines.schema.time is None:
                raise TableError(f"{self.path} has no column of times; name it with --time")
        except BaseException:
            self._file.close()
            raise
        self.schema = as_floats(self._lines.schema)
        self._header = head[: head.index(b"\n") + 1] if self._lines.has_header else b""
        self._skip = 0
        if found is not None and found.unit == SAMPLES:
            # The file was read to its end before, and is followed now.
            self._skip, found = found.place, None
        self._mark = found or FileMark(0, len(head), digest_of(self._file, len(head)), BYTES)

    def poll(self, wait: float = 0.0) -> Samples | None:
        samples = self._next()
        if samples is None and wait > 0.0:
            self._stop.wait(wait)
            samples = self._next()
        return samples

    @property
    def is_finished(self) -> bool:
        return False

    def close(self) -> None:
        self._file.close()

    def _open(self, found: FileMark | None) -> tuple[BinaryIO, bytes]:
        """Return the file and its first lines, as soon as it has a row; as many as were looked at before the mark."""
        told = False
        while True:
            reason = f"there is no file {self.path}"
            if Path(self.path).exists():
                file = Path(self.path).open("rb")  # noqa: SIM115 - kept open
                heads = [found.head] if found is not None and found.is_of(file) else []
                for n_bytes in (*heads, HEAD):
                    file.seek(0)
                    head = _whole_lines(file.read(n_bytes))
                    if b"\n" in head.strip():
                        return file, head
                file.close()
                reason = f"{self.path} has no rows"
            if not told:
                _log.warning("%s yet: waiting for it", reason)
            told = True
            if self._stop.wait(_LOOK):
                raise TableError(reason)

    def _goes_on(self, found: FileMark) -> bool:
        if not found.is_of(self._file):
            _log.warning(
                "%s is not the file that was read before: beginning with its first line; what was appended to the old"
                " one since is not sent",
                self.path,
            )
            return False
        if found.unit == BYTES and os.fstat(self._file.fileno()).st_size < found.place:
            _log.warning("%s is shorter than it was: beginning with its first line", self.path)
            return False
        return True

    def _next(self) -> Samples | None:
        place = self._mark.place
        self._file.seek(place)
        data = self._file.read(_CHUNK)
        if not data:
            self._look_for_another()
            return None
        end = data.rfind(b"\n") + 1
        if not end:
            if len(data) < _CHUNK:
                return None
            self.leave_out("lines refused", f"{self.path}, byte {place}: a line is too long and is left out")
            end = _CHUNK
        text = data[:end]
        if not place:
            text = self._begin(text)
        self._mark = self._mark._replace(place=place + end)
        readings, times = self._read(text, place + end - len(text))
        skipped = min(self._skip, len(readings))
        self._skip -= skipped
        return Samples(readings[skipped:], times[skipped:], self._mark.text) if len(readings) > skipped else None

    def _read(self, text: bytes, place: int) -> tuple[FloatArray, IntArray]:
        try:
            return self._lines.read(text)
        except TableError:
            pass
        parts = []
        for line in text.splitlines(keepends=True):
            try:
                parts.append(self._lines.read(line))
            except TableError as error:
                reason = str(error).removeprefix(f"{self.path}, line 1").lstrip(",: ")
                self.leave_out("lines refused", f"{self.path}, byte {place}: a line is left out: {reason}")
            place += len(line)
        readings, times = zip(*parts, strict=True) if parts else ((), ())
        n_sensors = len(self.schema.columns)
        return (
            np.concatenate([np.empty((0, n_sensors)), *readings]),
            np.concatenate([np.empty(0, dtype=np.int64), *times]),
        )

    def _look_for_another(self) -> None:
        """Go on with the file that has the name now, if it is another one, or with the beginning of a shortened one."""
        ours = os.fstat(self._file.fileno())
        try:
            now = Path(self.path).stat()
            is_other = (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
            other = Path(self.path).open("rb") if is_other else None  # noqa: SIM115 - kept open
        except OSError:
            # Between the two steps of a rotation, or not readable yet: look again.
            return
        if other is not None:
            _log.warning("%s was replaced: going on with the new file", self.path)
            self.count("rotations")
            self._file.close()
            self._file = other
        elif now.st_size < self._mark.place:
            _log.warning("%s was truncated: going on with its first line", self.path)
            self.count("truncations")
        else:
            return
        self._mark = FileMark(0, 0, "", BYTES)
        self._skip = 0

    def _begin(self, text: bytes) -> bytes:
        """Return the first lines of a file without its header."""
        if not self._mark.head:
            head = len(_whole_lines(text[:HEAD]))
            self._mark = FileMark(0, head, digest_of(self._file, head), BYTES)
        if text.startswith(self._header):
            return text[len(self._header) :]
        if not text[:1].isdigit():
            raise TableError(f"{self.path} has other columns than before; start again to begin a new stream")
        # Some programs write the header only once.
        return text


def _reader_of(head: bytes, **table: Any) -> _LineReader:
    """Return a reader of lines like the first ones of a file, except for those that cannot be read."""
    try:
        return _LineReader(io.BytesIO(head), **table)
    except TableError:
        first, second, *others = [line for line in head.splitlines(keepends=True) if line.strip()]
        try:
            reader = _LineReader(io.BytesIO(first + second), **table)
        except TableError:
            reader = None
        if reader is None:
            raise
    good = []
    for line in others:
        with suppress(TableError):
            reader.read(line)
            good.append(line)
    return _LineReader(io.BytesIO(first + second + b"".join(good)), **table)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


class _LineReader(CsvTable):
    """Reads lines of a table whose first lines are known."""

    @property
    def has_header(self) -> bool:
        """Whether the first line holds names."""
        return self._layout.has_header

    def read(self, text: bytes) -> tuple[FloatArray, IntArray]:
        """Return the samples of whole lines; raise TableError if one of them is none."""
        parts = [self._read(block)[:2] for block in LineBlocks(io.BytesIO(text), self._name) if block.text.strip()]
        if not parts:
            return np.empty((0, len(self.schema.columns))), np.empty(0, dtype=np.int64)
        return (
            np.concatenate([rows for rows, _ in parts]),
            np.concatenate([times for _, times in parts if times is not None]),
        )
