"""Going on after damage: the next frame of a file that a reader can begin at, and what was lost before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orthostream.compression.errors import FrameError
from orthostream.compression.file.ending import Key
from orthostream.compression.stream.checks import Checks
from orthostream.compression.stream.frame import LONGEST, RESTART, UPDATE, Frame
from orthostream.compression.varint import Reader

#: First bytes of frames that restart the state.
_MARKS = re.compile(rb"[\x08-\x0a\x18\x28-\x2a\x38]")
_LONGEST_LENGTH = 4
#: Frames up to so many bytes are looked for until so many bytes were checked; longer ones are rare, and checks of what
#: only looks like one are expensive.
_BUDGETS = ((1 << 12, 1 << 34), (1 << 16, 1 << 31), (LONGEST, 1 << 29))


class LostStretch(NamedTuple):
    """Samples of a file that could not be read.

    Attributes
    ----------
    first, last : int
        Numbers of the first and the last sample; None for the last where it is not known, because none follow.
    before, after : int or None
        Times of the samples before and after, where they are known.
    start, stop : int
        Where their bytes begin and end in the file; equal if it has none of them.
    """

    first: int
    last: int | None
    before: int | None
    after: int | None
    start: int
    stop: int

    def __str__(self) -> str:
        count = (
            "an unknown number of samples (perhaps none)"
            if self.last is None
            else f"{self.last - self.first + 1} samples"
        )
        if self.stop > self.start:
            place = f"bytes {self.start} to {self.stop - 1}"
        else:
            place = f"missing from byte {self.start} on" if self.last is None else f"missing at byte {self.start}"
        return f"{count} from number {self.first} on ({place})"


class Losses:
    """What a reader could not read: stretches that are over, and perhaps one of which the end is not known yet.

    Attributes
    ----------
    stretches : list of LostStretch
    is_counted : bool
        Whether the numbers of samples are known; in version 1 they are not after damage, unless the index tells.
    """

    def __init__(self) -> None:
        self.stretches: list[LostStretch] = []
        self.is_counted = True
        self._gap: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return bool(self.stretches) or self._gap is not None

    def begin(self, offset: int, sample: int) -> None:
        """Note the first sample that may be lost, and where its bytes begin, unless a stretch is open already."""
        if self._gap is None:
            self._gap = offset, sample

    def is_open(self, offset: int, sample: int) -> bool:
        """Return whether the open stretch begins at an offset, with a sample."""
        return self._gap == (offset, sample)

    def forget(self) -> None:
        """Drop the open stretch: nothing is lost in it."""
        self._gap = None

    def end(self, sample: int | None, stop: int, before: int | None, after: int | None = None) -> None:
        """Close the open stretch, if there is one.

        Parameters
        ----------
        sample : int or None
            The sample that follows, None if that is unknown.
        stop : int
            Where the bytes of the stretch end.
        before, after : int or None
            As in `LostStretch`.
        """
        if self._gap is None:
            return
        start, first = self._gap
        self._gap = None
        # Otherwise damage between frames, or of a dictionary that no sample needed.
        if sample != first:
            last = None if sample is None else sample - 1
            self.stretches.append(LostStretch(first, last, before, after, start, stop))

    def may_be_more(self, offset: int, sample: int) -> None:
        """Note that an unknown number of samples may be missing from a place on, unless that was noted before."""
        if all(stretch.last is not None for stretch in self.stretches):
            self.begin(offset, sample)
            self.end(None, offset, None)


def next_key(data: bytes, offset: int, checks: Checks, keys: Sequence[Key] | None) -> int | None:
    """Return where, after its first byte, the rest of a file has a frame that a reader can begin at.

    Parameters
    ----------
    data : bytes
        The rest of a file from some frame on.
    offset : int
        Where that begins in the file.
    checks : Checks
    keys : sequence of Key, optional
        What the end of the file says; where that is of no use, all places are tried.
    """
    for key in keys or ():
        if key.offset > offset and _frame_at(data, key.offset - offset, checks) is not None:
            return key.offset - offset
    if keys is not None and all(key.offset <= offset for key in keys):
        return None
    # Without an index, or if bytes are missing or too many so that it does not fit any more.
    return next(_scan(data, checks), None)


def _frame_at(data: bytes, at: int, checks: Checks) -> Frame | None:
    """Return the frame at a place, if it is one that restarts the state."""
    reader = Reader(data, at)
    try:
        frame = checks.open_alone(reader.take(reader.varint(LONGEST)))
    except FrameError:
        return None
    return frame if frame is not None and frame.flags & RESTART and frame.kind <= UPDATE else None


def _scan(data: bytes, checks: Checks) -> Iterator[int]:
    """Yield all places after the first byte at which there is a frame that restarts the state."""
    left = [budget for _, budget in _BUDGETS]
    for match in _MARKS.finditer(data, 2):
        mark = match.start()
        for at in range(mark - 1, max(mark - 1 - _LONGEST_LENGTH, 0), -1):
            if (data[at] < 0x80) != (at == mark - 1):
                break
            size = sum((data[i] & 0x7F) << 7 * (i - at) for i in range(at, mark))
            if size > len(data) - mark:
                continue
            place = next(i for i, (most, _) in enumerate(_BUDGETS) if size <= most)
            left[place] -= size
            if left[place] > 0 and _frame_at(data, at, checks) is not None:
                yield at
