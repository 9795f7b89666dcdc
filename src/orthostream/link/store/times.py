"""Times of streams as microseconds since 1970, which stores are searched by."""

from __future__ import annotations

#: Microseconds per tick of each unit, as a fraction.
_MICROSECONDS = {"ns": (1, 1000), "us": (1, 1), "ms": (1000, 1), "s": (1_000_000, 1)}


def ticks(microseconds: int, unit: str) -> int:
    """Return the first tick of a unit that is not before a time; plain integers have no unit and stay as they are.

    Examples
    --------
    >>> ticks(1_500_000, "s"), ticks(1_500_000, "ns"), ticks(7, "")
    (2, 1500000000, 7)
    """
    numerator, denominator = _MICROSECONDS.get(unit, (1, 1))
    return -(-microseconds * denominator // numerator)
