"""Documents from a file, standard input or a pipe."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic as time_now
from types import TracebackType
from typing import BinaryIO, Self

from orthostream.novelty.document import Document
from orthostream.novelty.reading.as_utf8 import as_utf8, checked_encoding
from orthostream.novelty.reading.choose_format import FORMATS, format_of_lines, format_of_name
from orthostream.novelty.reading.document_format import DocumentFormat
from orthostream.novelty.reading.fields import GivenFields
from orthostream.novelty.reading.first_lines import FirstLines, look_ahead
from orthostream.novelty.reading.followed_file import FollowedFile
from orthostream.novelty.reading.gunzip import gunzipped, without_gzip
from orthostream.novelty.reading.json_lines import JsonLines
from orthostream.novelty.reading.lines import TextLine, text_lines
from orthostream.novelty.reading.pieces import Pieces, ReadingStoppedError, is_pipe, stream_pieces
from orthostream.novelty.reading.plain_lines import PlainLines
from orthostream.novelty.reading.problems import Problems
from orthostream.novelty.reading.recent_ids import RecentIds
from orthostream.novelty.reading.records import RecordReader
from orthostream.novelty.reading.table_separator import find_separator
from orthostream.novelty.reading.tables import Tables

#: Characters of a block: documents of 10 MB must not fill the memory.
_MOST_CHARACTERS = 1 << 24
#: Seconds that a document can wait for others of its block.
_OLDEST = 1.0


class DocumentReader:
    r"""Reads documents one by one, from anything that holds them, in memory bounded by one document.

    Can be read once. What cannot be read is left out and counted; the rest goes on.

    Parameters
    ----------
    source : path or binary stream
        A stream is left open. Compression by gzip is recognised.
    format : {"auto", "jsonl", "csv", "lines"}
        JSON lines (an object in each line, or a string, which is the text), a table with a header (cells separated by
        comma, semicolon, tab or |), or one document in each line. By default, by the name of the file (.jsonl, .ndjson,
        .json, .csv, .tsv, .txt, also with .gz), or else by the first line that is not blank.
    text, title, id, time : str, optional
        The names of fields or columns. By default, usual ones are found. The text that is scored is title and body.
    follow : bool, default False
        Whether to go on when the end is reached, as ``tail -F`` does: wait for further lines, go on with a new file of
        this name, and begin again with a file that was truncated. Needs a path. A last line without its line feed is
        held back.
    max_bytes : int, default 64 MiB
        Of a line or row, in UTF-8; longer ones are left out.
    encoding : str, default "utf-8"
        UTF-16 and UTF-32 are recognised by their byte order mark.
    stop : Event, optional
        Ends the reading within 0.2 s of being set, after the last complete document, if the source is a pipe or a file
        that is followed. Other streams end when their next read returns.

    Attributes
    ----------
    problems : Problems
        What was left out, repaired or repeated.
    n_lines : int
        Lines that were read.
    bytes_read : int
        Of the source, compressed if it is; what is read ahead included.

    Raises
    ------
    DocumentError
        When the first document is read: if the input has no such fields, or is one JSON document instead of lines.
    OSError
        If the source cannot be read.

    Notes
    -----
    A document without identifier gets the number of the line on which it begins. Documents that share an identifier
    with one of the last 100,000 or more are counted, and read.

    Examples
    --------
    >>> from io import BytesIO
    >>> lines = b'{"id": 1, "title": "Cocoa", "body": "Prices rose."}\n{"id": 2, "body"\n"Prices fell."\n'
    >>> reader = DocumentReader(BytesIO(lines))
    >>> for document in reader:
    ...     print(document)
    Document(text='Cocoa\nPrices rose.', title='Cocoa', id='1', time='')
    Document(text='Prices fell.', title='Prices fell.', id='3', time='')
    >>> reader.problems.messages()
    ["malformed lines: 1 (first: line 2: Expecting ':' delimiter at column 17)"]
    """

    def __init__(
        self,
        source: BinaryIO | str | os.PathLike[str],
        format: str = "auto",  # noqa: A002
        *,
        text: str | None = None,
        title: str | None = None,
        id: str | None = None,  # noqa: A002
        time: str | None = None,
        follow: bool = False,
        max_bytes: int = 1 << 26,
        encoding: str = "utf-8",
        stop: threading.Event | None = None,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be a positive integer, got {max_bytes!r}.")
        if follow and not isinstance(source, str | os.PathLike):
            raise ValueError(f"only a path can be followed, got the stream {source!r}: give the name of the file.")
        self.problems = Problems()
        self.n_lines = 0
        self.bytes_read = 0
        self._source, self._follow = source, follow
        self._given = GivenFields(text, title, id, time)
        self._max_bytes, self._encoding = max_bytes, checked_encoding(encoding)
        self._stop = stop or threading.Event()
        name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", "")
        self._format_name = format_of_name(str(name)) if format == "auto" else format
        self._format: DocumentFormat | None = None
        self._is_live = follow
        self._documents = self._read()

    def __iter__(self) -> Iterator[Document]:
        return (document for document in self._documents if document is not None)

    def blocks(self, size: int) -> Iterator[list[Document]]:
        """Yield the documents in lists of up to ``size``.

        A list is shorter at the end, and if its texts have more than 16 million characters. On pipes, and on files that
        are followed, it is also shorter if there is nothing more within 0.2 s, or if it is more than a second old. None
        is empty.
        """
        if size < 1:
            raise ValueError(f"size must be a positive integer, got {size!r}.")
        block: list[Document] = []
        n_characters, begin = 0, 0.0
        try:
            for document in self._documents:
                if document is not None:
                    # The time must not decide how a file is cut: the same file has to give the same blocks.
                    begin = begin if block or not self._is_live else time_now()
                    block.append(document)
                    n_characters += len(document.text)
                is_full = len(block) == size or n_characters > _MOST_CHARACTERS
                if block and (document is None or is_full or (self._is_live and time_now() - begin > _OLDEST)):
                    whole, block, n_characters = block, [], 0
                    yield whole
        except OSError:
            # What came before the error has been read.
            if block:
                yield block
            raise
        if block:
            yield block

    def close(self) -> None:
        """Close the file, if this reader has opened it."""
        self._documents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> Generator[Document | None]:
        """Yield documents, and None when no more are there for now."""
        try:
            with closing(self._files()) as files:
                for pieces in files:
                    yield from self._documents_of(self._lines(pieces))
        except ReadingStoppedError:
            return

    def _files(self) -> Generator[Pieces]:
        if not isinstance(self._source, str | os.PathLike):
            yield self._pieces(self._source)
        elif self._follow:
            yield from FollowedFile(self._source, self._stop).files()
        else:
            with Path(self._source).open("rb") as file:
                yield self._pieces(file)

    def _pieces(self, stream: BinaryIO) -> Pieces:
        self._is_live = is_pipe(stream)
        return stream_pieces(stream, self._stop)

    def _lines(self, pieces: Pieces) -> Iterator[TextLine | None]:
        counted = self._counted(pieces)
        plain = without_gzip(counted) if self._follow else gunzipped(counted, self.problems)
        utf8 = as_utf8(plain, self._encoding)
        for line in text_lines(utf8, self._max_bytes, self.problems, self.n_lines + 1):
            if line is not None:
                self.n_lines = line.number
            yield line

    def _counted(self, pieces: Pieces) -> Pieces:
        for piece in pieces:
            self.bytes_read += len(piece or b"")
            yield piece

    def _documents_of(self, lines: Iterator[TextLine | None]) -> Iterator[Document | None]:
        if self._format is None:
            first_lines, lines = look_ahead(lines, self.problems, _OLDEST if self._is_live else math.inf)
            if first_lines.lines:
                self._format = self._open_format(first_lines)
        if self._format is None:
            # Without a line, which is no reason to hide an error.
            yield from (None for _ in lines)
            return
        yield from self._format.documents(lines)

    def _open_format(self, first_lines: FirstLines) -> DocumentFormat:
        name = self._format_name
        if name == "auto":
            name = format_of_lines(first_lines, self._given)
        if name == "lines":
            return PlainLines(self._given, self.problems)
        records = RecordReader(self.problems, RecentIds())
        if name == "jsonl":
            return JsonLines(first_lines, self._given, records, self.problems)
        separator = find_separator(first_lines, self._given)
        return Tables(separator, self._max_bytes, self._given, records, self.problems)
