"""The stretch of time that a chart shows: all of it, a part, or the newest part as it grows."""

from __future__ import annotations

from dataclasses import dataclass

#: Samples that are shown at first while readings come in.
_AT_FIRST = 336
#: Samples that are shown at least.
_LEAST = 6


@dataclass(frozen=True)
class Zoom:
    """What is shown, in ticks. A ``width`` of None shows all, an ``end`` of None follows the newest reading.

    Examples
    --------
    >>> zoom = Zoom(width=100)
    >>> zoom.span(0, 1000), zoom.nearer(0, 1000, 1).span(0, 1000), zoom.earlier(0, 1000).span(0, 1000)
    ((900, 1000), (950, 1000), (850, 950))
    >>> zoom.earlier(0, 1000).later(0, 1000)
    Zoom(width=100, end=None)
    """

    width: int | None = None
    end: int | None = None

    @classmethod
    def at_first(cls, tick: int) -> Zoom:
        """Return what is shown at first while readings come in every so many ticks: two weeks of hours."""
        return cls(width=_AT_FIRST * tick)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the first and the last tick that are shown, where there are readings from ``first`` to ``last``."""
        end = last if self.end is None else min(self.end, last)
        start = first if self.width is None else max(end - self.width, first)
        return start, end

    def nearer(self, first: int, last: int, tick: int) -> Zoom:
        """Return half of what is shown, around its middle; the newest half while following."""
        start, end = self.span(first, last)
        width = max((end - start) // 2, _LEAST * tick)
        return Zoom(width, None if self.end is None else min(end, start + (end - start + width) // 2))

    def farther(self, first: int, last: int) -> Zoom:
        """Return twice of what is shown."""
        start, end = self.span(first, last)
        width = 2 * (end - start)
        if width >= last - first:
            return Zoom()
        return Zoom(width, None if self.end is None else min(end + width // 4, last))

    def earlier(self, first: int, last: int) -> Zoom:
        """Return what lies half a width before."""
        start, end = self.span(first, last)
        width = end - start
        return Zoom(width, max(end - width // 2, first + width))

    def later(self, first: int, last: int) -> Zoom:
        """Return what lies half a width behind; follow again at the end."""
        start, end = self.span(first, last)
        width = end - start
        moved = end + width // 2
        return Zoom(width, None if moved >= last else moved)
