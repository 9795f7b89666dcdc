"""The numbers that a transport gives to frames: a repeat and a gap are told apart from what comes next."""

from __future__ import annotations

from orthostream.compression.errors import FrameError


class FrameNumbers:
    """Counts the frames of a stream since its header.

    Attributes
    ----------
    next : int
        The number that the next frame should have.
    """

    def __init__(self) -> None:
        self.next = 0

    def check(self, number: int | None) -> bool:
        """Return whether frames are missing before a number; raise FrameError if it came before."""
        if number is None:
            return False
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"the number of a frame must be an integer, got {number!r}.")
        if number < self.next:
            raise FrameError(f"frame {number} came already, or too late: frame {self.next} is the next")
        return number > self.next

    def take(self, number: int | None) -> None:
        """Go on after a frame."""
        self.next = (self.next if number is None else number) + 1
