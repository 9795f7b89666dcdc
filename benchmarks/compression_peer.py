"""What a compressor must be able to do to be compared: part of `orthostream bench compression`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from orthostream._typing import FloatArray

from .compression_case import Case


class Peer(NamedTuple):
    """A compressor with settings to be searched.

    A setting is a NamedTuple, and tells by its `fill` what it does about missing readings. What `encode` returns beside
    the bytes is told to `decode` for free.
    """

    name: str
    settings: Callable[[bool], list[Any]]
    """Return settings to try first, fewer if it has to be quick."""
    stages: tuple[tuple[int, Callable[[Any], list[Any]]], ...]
    """How many of the best so far to vary, and how, one stage after another."""
    encode: Callable[[Case, Any], tuple[bytes, Any]]
    decode: Callable[[Case, Any, bytes, Any], FloatArray]
