"""A line that says whether a goal is met."""

from __future__ import annotations


def verdict(is_met: bool, text: str) -> str:
    """Return the line.

    >>> verdict(False, "twice as fast: 1.7 times")
    '  MISSED  twice as fast: 1.7 times'
    """
    return f"  {'met   ' if is_met else 'MISSED'}  {text}"
