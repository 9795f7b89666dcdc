"""Numbers on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def number_argument(check: Callable[[str, float], float]) -> Callable[[str], float]:
    """Return a type for argparse: a number that passes one of the checks of `orthostream._checks`.

    >>> from orthostream._checks import positive
    >>> number_argument(positive)("0.5")
    0.5
    """

    def convert(text: str) -> float:
        try:
            number = float(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
        checked: float = _checked(check, number)
        return checked

    return convert


def count_argument(text: str) -> int:
    """Return a positive integer, as a type for argparse.

    >>> count_argument("12")
    12
    """
    # Loaded here because it imports NumPy, which --help does not need.
    from orthostream._checks import integer

    number: int = _checked(integer, int(text) if text.isdecimal() else text)
    return number


def _checked(check: Callable[[str, Any], Any], value: Any) -> Any:
    try:
        return check("the value", value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from error
