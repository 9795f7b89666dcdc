"""Durations and sizes on the command line."""

from __future__ import annotations

import argparse
import re

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"": 1, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)


def duration_argument(text: str) -> float:
    """Return seconds, as a type for argparse.

    >>> duration_argument("10ms"), duration_argument("10min"), duration_argument("1.5")
    (0.01, 600.0, 1.5)
    """
    return _quantity(text, _SECONDS, "a duration such as 10ms, 5s, 10min or 1h")


def size_argument(text: str) -> int:
    """Return a number of bytes, as a type for argparse; a MB has 1,048,576 of them.

    >>> size_argument("256MB"), size_argument("4096")
    (268435456, 4096)
    """
    return int(_quantity(text, _BYTES, "a size such as 256MB or 1GB"))


def port_argument(text: str) -> int:
    """Return the number of a port, as a type for argparse; 0 stands for any that is free."""
    if not text.isdecimal() or int(text) >= 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _quantity(text: str, units: dict[str, float] | dict[str, int], what: str) -> float:
    found = _QUANTITY.fullmatch(text)
    if not found or found[2] not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return float(found[1]) * units[found[2]]
