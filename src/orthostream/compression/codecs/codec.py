"""What a way of coding must be able to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from orthostream._typing import FloatArray

#: Kinds of payload: readings; a whole dictionary; the way from the last dictionary to the next.
READINGS, DICTIONARY, UPDATE = 0, 1, 2


#: Readings that a byte of a payload may stand for at most, so that a few bytes never become a flood.
MOST_READINGS_PER_BYTE = 128


class Payload(NamedTuple):
    """Bytes that one side makes and the other understands."""

    kind: int
    body: bytes


class Codec(ABC):
    """A state that both sides hold alike, and that turns samples into payloads and payloads into samples.

    `encode` on one side and `decode` on the other move equal states to equal states. A state in which either has raised
    is good for nothing but `restart`.
    """

    #: Sensors in a sample.
    n_sensors: int
    #: Samples that one call of `encode` takes at most.
    most_samples: int = 1 << 17
    #: Whether starting again would make what follows smaller.
    wants_restart: bool = False

    @abstractmethod
    def encode(self, rows: FloatArray) -> list[Payload]:
        """Return what the other side needs in order to know some samples, NaN where a reading is missing.

        What brings a dictionary comes first, then one payload of readings. Zeros at its end must mean nothing: they may
        be added on the way.
        """

    @abstractmethod
    def decode(self, payload: Payload) -> FloatArray:
        """Return the samples of a payload, none if it brings a dictionary; raise FrameError if it is none of ours."""

    @property
    @abstractmethod
    def digest(self) -> int:
        """32 bits that tell one state from another, made of the integers that both sides hold."""

    @property
    def bits(self) -> dict[str, float]:
        """Bits spent on each component since the last restart; of interest to people."""
        return {}

    @abstractmethod
    def restart(self) -> None:
        """Forget everything, as if newly made."""
