"""Marks of files: how far a file was read, and how it begins, so that another file of the same name is noticed."""

from __future__ import annotations

import hashlib
import json
from typing import BinaryIO, NamedTuple, Self

#: Bytes at the beginning of a file that tell it from others, at most.
HEAD = 1 << 16
#: What a place is counted in.
BYTES, SAMPLES = "bytes", "samples"


class FileMark(NamedTuple):
    """How far a file was read: ``place`` is a number of bytes, or of samples.

    Examples
    --------
    >>> mark = FileMark(120, 8, "9f86d081", SAMPLES)
    >>> FileMark.parse(mark.text) == mark, FileMark.parse("something else") is None
    (True, True)
    """

    place: int
    head: int
    digest: str
    unit: str

    @property
    def text(self) -> str:
        """The mark as it is kept."""
        return json.dumps({"place": self.place, "head": self.head, "digest": self.digest, "unit": self.unit})

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """Return the mark that a text is, None if it is none, or that of another kind of source."""
        try:
            plain = json.loads(text or "null")
            mark = cls(int(plain["place"]), int(plain["head"]), str(plain["digest"]), str(plain["unit"]))
        except (ValueError, KeyError, TypeError):
            return None
        return mark if mark.place >= 0 and 0 <= mark.head <= HEAD and mark.unit in (BYTES, SAMPLES) else None

    def is_of(self, file: BinaryIO) -> bool:
        """Return whether a file begins like the one that was read."""
        return digest_of(file, self.head) == self.digest


def digest_of(file: BinaryIO, head: int) -> str:
    """Return a digest of the first bytes of a file; its position changes."""
    file.seek(0)
    return hashlib.blake2b(file.read(head), digest_size=8).hexdigest()
