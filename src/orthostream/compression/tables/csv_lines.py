"""The lines of a text file, in blocks that fit into memory."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from orthostream.compression.tables.errors import TableError

#: Bytes read at once, and the longest line that is taken for one.
BLOCK_BYTES = 1_000_000
LONGEST_LINE = 1_000_000

#: How .ost files begin, in either version.
_COMPRESSED = (b"OST\x01", b"OST\x02")
_FOREIGN_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
#: How files begin that are often given instead of a table.
_OTHER_FILES = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "ZIP or spreadsheet",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\xfd7zXZ\0": "xz",
    b"PAR1": "Parquet",
    b"SQLite format 3\0": "SQLite",
    b"\x89PNG": "PNG",
    b"\x7fELF": "program",
}
_MEND = "save the table as UTF-8 text"


class LineBlock(NamedTuple):
    """Whole lines, each with its line feed, and the number of the first, from 1 on."""

    text: bytes
    line: int


class LineBlocks:
    r"""Blocks of whole lines of UTF-8 text, without byte order mark and carriage returns.

    Parameters
    ----------
    file : where the bytes come from
    name : what errors call it
    block_bytes : read at once, at most 1,000,000

    Examples
    --------
    >>> import io
    >>> list(LineBlocks(io.BytesIO(b"a,b\r\n1,2"), "table"))
    [LineBlock(text=b'a,b\n', line=1), LineBlock(text=b'1,2\n', line=2)]
    """

    def __init__(self, file: BinaryIO, name: str, block_bytes: int = BLOCK_BYTES) -> None:
        self._file = file
        self._name = name
        self._block_bytes = min(block_bytes, BLOCK_BYTES)
        #: Bytes taken from the file so far.
        self.bytes_read = 0

    def __iter__(self) -> Iterator[LineBlock]:
        rest, line = b"", 1
        while True:
            read = self._read_block()
            text = rest + read
            if not self.bytes_read:
                text = self._without_mark(text)
            self.bytes_read += len(read)
            if not read:
                if rest:
                    yield self._checked(rest + b"\n", line)
                return
            # No block is longer than a line may be, so that only a line that began in an earlier one can be too long.
            end = text.find(b"\n")
            if (end if end >= 0 else len(text)) > LONGEST_LINE:
                raise TableError(
                    f"{self._name}, line {line}: longer than {LONGEST_LINE:,} bytes without a line feed; "
                    "is this a table of text?"
                )
            cut = text.rfind(b"\n") + 1
            rest = text[cut:]
            if cut:
                block = self._checked(text[:cut], line)
                yield block
                line += block.text.count(b"\n")

    def _read_block(self) -> bytes:
        # What a pipe has, again and again: an interrupt between two calls is noticed, inside one long call it may wait.
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        parts, missing = [], self._block_bytes
        while missing and (part := read(missing)):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _without_mark(self, text: bytes) -> bytes:
        if text.startswith(_FOREIGN_MARKS):
            raise TableError(f"{self._name}, line 1: this is UTF-16 or UTF-32 text; {_MEND}")
        if text.startswith(_COMPRESSED):
            raise TableError(f"{self._name} is an .ost file: it is compressed already; decompress makes a table of it")
        for start, kind in _OTHER_FILES.items():
            if text.startswith(start):
                raise TableError(f"{self._name} is a {kind} file, not a table of text; unpack or export it first")
        return text.removeprefix(codecs.BOM_UTF8)

    def _checked(self, text: bytes, line: int) -> LineBlock:
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
            if b"\r" in text:
                where = line + text.count(b"\n", 0, text.index(b"\r"))
                raise TableError(f"{self._name}, line {where}: a carriage return without a line feed; {_MEND}")
        if b"\0" in text:
            where = line + text.count(b"\n", 0, text.index(b"\0"))
            raise TableError(f"{self._name}, line {where}: a NUL byte; is this a table of text?")
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                where = line + text.count(b"\n", 0, error.start)
                raise TableError(
                    f"{self._name}, line {where}: byte 0x{text[error.start]:02x} is not UTF-8; {_MEND}"
                ) from error
        return LineBlock(text, line)
