"""What both sides remember of the frames since the last restart: it goes into the checksum of the next one."""

from __future__ import annotations

from typing import NamedTuple


class Chain(NamedTuple):
    """A running checksum of the frames and of what was decoded from them, and how many there were.

    ``anchor`` is what short checksums of version 1 hold instead of the seed; version 2 does without.
    """

    seed: int = 0
    number: int = 0
    anchor: int = 0
