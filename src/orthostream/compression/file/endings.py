"""Which end a file has, by its version."""

from __future__ import annotations

from orthostream.compression.file.ending import Ending
from orthostream.compression.file.index_and_end import IndexAndEnd
from orthostream.compression.file.trailer import Trailer
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.stream.versions import version_of

_ENDINGS: dict[int, type[Ending]] = {1: IndexAndEnd, 2: Trailer}


def ending_of(header: StreamHeader) -> Ending:
    """Return what writes and reads the end of a file that begins with a header."""
    checks = version_of(header).checks(header)
    return _ENDINGS[header.version](checks, len(header.schema.columns), len(header.to_bytes()))
