"""Where the cloud keeps what it receives: raw messages are the truth, readings follow from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from orthostream._typing import FloatArray, IntArray
from orthostream.link.messages import Replaced


class Stream(NamedTuple):
    """One boot of an edge, as it is stored."""

    number: int
    edge: str
    boot: bytes
    generation: int
    header: bytes
    next: int
    samples: int
    readings: int
    n_bytes: int
    #: Messages from this one on were replaced by those of another boot; None if none were.
    closed: int | None


class NewStream(NamedTuple):
    """A boot that an edge has begun."""

    edge: str
    boot: bytes
    generation: int
    header: bytes
    sensors: Sequence[tuple[str, str]]
    time_unit: str
    replaced: Sequence[Replaced]


class NewMessage(NamedTuple):
    """A message, and the samples that were decoded from it."""

    edge: str
    boot: bytes
    sequence: int
    data: bytes
    first_sample: int
    values: FloatArray
    times: IntArray


class NewSnapshot(NamedTuple):
    """A decoder as it was before the message ``next``."""

    edge: str
    boot: bytes
    next: int
    decoder: bytes


@dataclass
class Batch:
    """What is stored at once or not at all."""

    streams: list[NewStream] = field(default_factory=list)
    messages: list[NewMessage] = field(default_factory=list)
    snapshots: list[NewSnapshot] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.streams or self.messages or self.snapshots)


class Chunk(NamedTuple):
    """Readings of one sensor, in order of time."""

    edge: str
    sensor: str
    unit: str
    time_unit: str
    times: IntArray
    values: FloatArray


class Store(ABC):
    """Keeps messages, readings and snapshots of decoders; every call is durable when it returns."""

    #: Where it is, without passwords.
    path: str

    @abstractmethod
    def add(self, batch: Batch) -> None:
        """Store a batch, or raise StoreError and store nothing of it."""

    @abstractmethod
    def streams(self, edge: str | None = None) -> list[Stream]:
        """Return all boots, or those of an edge, oldest first."""

    @abstractmethod
    def is_replaced(self, edge: str, tag: bytes) -> bool:
        """Return whether a boot that was never opened here was replaced by another."""

    @abstractmethod
    def messages(self, stream: Stream, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the raw messages of a boot, with their sequence numbers."""

    @abstractmethod
    def snapshot(self, stream: Stream) -> tuple[int, bytes] | None:
        """Return the last snapshot of a boot's decoder, and the message that comes next."""

    @abstractmethod
    def readings(
        self,
        edge: str | None = None,
        sensor: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield readings of sensors, from ``start`` to before ``end`` in microseconds since 1970."""

    @abstractmethod
    def clear_readings(self, stream: Stream) -> None:
        """Forget the readings of a boot; its messages stay."""

    def clear_all_readings(self) -> None:
        """Forget the readings of all boots; their messages stay."""
        for stream in self.streams():
            self.clear_readings(stream)

    @abstractmethod
    def add_readings(self, stream: Stream, first_sample: int, values: FloatArray, times: IntArray) -> None:
        """Store readings of a boot whose message is stored already."""

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
