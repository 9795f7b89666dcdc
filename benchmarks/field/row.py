"""One row of the tables: a stream, at its bound or lossless, as a whole file or in frames."""

from __future__ import annotations

from typing import NamedTuple

from ..measure import Record

NAME = "compression field"
#: Samples in a frame; 0 stands for a whole file.
WAYS = (0, 1, 6, 24)
#: What is lost to the best peer by more than this is marked; fields of sensors should be smaller by more than that.
LOST, FIELD = 1.02, 0.85


class Row(NamedTuple):
    """What ours and the best peer came to, in bits per reading."""

    stream: str
    kind: str
    simulated: bool
    readings: int
    lossless: bool
    way: int
    ours: float
    header: int
    kept: bool
    """Whether ours came back within the bound."""
    best: float
    peer: str
    setting: str

    @property
    def ratio(self) -> float:
        """Ours, as a part of the best peer."""
        return self.ours / self.best

    @property
    def lost(self) -> bool:
        """Whether a peer is smaller by more than 2 %, or the bound was broken."""
        return self.ratio > LOST or not self.kept

    @property
    def is_field(self) -> bool:
        """Whether the stream is a field of sensors of one kind."""
        return self.kind == "field"

    @property
    def mark(self) -> str:
        """What is wrong, in words."""
        if not self.kept:
            return "BROKEN"
        if self.lost:
            return "LOST"
        return "above 0.85" if self.is_field and self.ratio > FIELD else ""


def mode(lossless: bool, way: int) -> str:
    """Return what a table is called.

    >>> mode(False, 0), mode(True, 6)
    ('within the bound, whole file', 'lossless, frames of 6')
    """
    return f"{'lossless' if lossless else 'within the bound'}, {f'frames of {way}' if way else 'whole file'}"


def records(row: Row) -> list[Record]:
    """Return the numbers of a row."""
    setting = f"{row.stream}, {mode(row.lossless, row.way)}"
    return [
        Record(NAME, "ours", setting, "bits_per_reading", row.ours),
        Record(NAME, "ours", setting, "header_bytes", row.header),
        Record(NAME, "ours", setting, "violations", 0.0 if row.kept else 1.0),
        Record(NAME, row.peer, setting, "bits_per_reading", row.best),
        Record(NAME, "ours", setting, "ratio", row.ratio),
    ]
